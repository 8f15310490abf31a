import { TextInput } from '@mantine/core';
import { type PriceField, priceFields } from '../../../../server/contract/price-views.ts';
import { useMessages } from '../../../messages/use-messages.ts';
import { settingRow } from '../fields/setting-row.tsx';
import { isWrong } from './price-draft.ts';

interface AmountFieldProps {
  field: PriceField;
  text: string;
  onChange(text: string): void;
}

/** An input for one amount with its unit. Typed text stays, even if it is not a number. */
export function AmountField({ field, text, onChange }: AmountFieldProps) {
  const { prices: names } = useMessages();
  const hints: Partial<Record<PriceField, string>> = names.hints;
  const unit = priceFields[field];
  return (
    <TextInput
      {...settingRow(names.labels[field], names.units[unit])}
      description={hints[field]}
      inputMode="decimal"
      autoComplete="off"
      value={text}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={isWrong(field, text) && (unit === 'count' ? names.wrongCount : names.wrongPrice)}
    />
  );
}
