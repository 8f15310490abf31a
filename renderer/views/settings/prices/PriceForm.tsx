import { NativeSelect, Stack, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { type PriceField, priceFields } from '../../../../server/contract/price-views.ts';
import { DialogActions } from '../../../components/dialogs/ModalFrame.tsx';
import { Fieldset } from '../../../components/forms/Fieldset.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import { settingRow } from '../fields/setting-row.tsx';
import classes from './Prices.module.css';
import {
  amountsOf,
  draftOf,
  type FieldGroup,
  fieldGroups,
  fieldNames,
  hasPrice,
  isWrong,
  type PriceRowView,
} from './prices.ts';

/** The model whose price is edited. */
export type PricedModel = Pick<PriceRowView, 'provider' | 'model' | 'price'>;

interface PriceFormProps {
  /** Null for a model that is not in the list. */
  edited: PricedModel | null;
  /** The suggested model name in that case. */
  name: string;
  onClose(): void;
}

/** Edits a custom price, for a model at one provider or at all of them. Starts with the price in force. */
export function PriceForm({ edited, name, onClose }: PriceFormProps) {
  const { prices: names } = useMessages();
  const status = useControlState((state) => state.views?.status ?? null);
  const [draft, setDraft] = useState(() => draftOf(edited?.price?.amounts ?? {}));
  const [target, setTarget] = useState({ provider: edited?.provider ?? '', model: edited?.model ?? name });
  const [isTried, setTried] = useState(false);
  const command = useCommand();
  const ownEntry = edited?.price?.isOwn ? edited.price.entry : null;
  const entry = ownEntry ?? entryOf(target);
  const isUnnamed = target.model.trim() === '';
  const isComplete = !isUnnamed && hasPrice(draft) && !fieldNames.some((field) => isWrong(field, draft[field]));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (!isComplete || !status) return;
    const { settings, revision } = status;
    const prices = { ...settings.prices, [entry]: amountsOf(draft, settings.prices[entry] ?? {}) };
    if (await command.run({ type: 'settings.update', changes: { prices }, expectedRevision: revision })) onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="md">
        {ownEntry === null ? (
          <PriceTargetFields edited={edited} target={target} onChange={setTarget} isUnnamed={isTried && isUnnamed} />
        ) : (
          <p className={classes.note}>{names.ownEntry(ownEntry)}</p>
        )}
        {ownEntry === null && edited === null && status?.settings.prices[entry] && (
          <p className={classes.note} role="status">
            {names.replaces}
          </p>
        )}
        {(Object.keys(fieldGroups) as FieldGroup[]).map((group) => (
          <AmountGroup key={group} group={group} isOpen={group === 'tokens' || hasAny(group, draft)}>
            {fieldGroups[group].map((field) => (
              <AmountField
                key={field}
                field={field}
                text={draft[field]}
                onChange={(text) => setDraft((old) => ({ ...old, [field]: text }))}
              />
            ))}
          </AmountGroup>
        ))}
        <p className={classes.note}>{names.fromNowOn}</p>
        {isTried && !hasPrice(draft) && (
          <p className={classes.error} role="alert">
            {names.nothingEntered}
          </p>
        )}
        <DialogActions command={command} onLeave={onClose} />
      </Stack>
    </form>
  );
}

interface PriceTarget {
  /** Empty for all providers. */
  provider: string;
  model: string;
}

function entryOf({ provider, model }: PriceTarget): string {
  return provider === '' ? model.trim() : `${provider}/${model.trim()}`;
}

interface PriceTargetFieldsProps {
  edited: PricedModel | null;
  target: PriceTarget;
  onChange(target: PriceTarget): void;
  isUnnamed: boolean;
}

/** The model and provider that the price applies to. */
function PriceTargetFields({ edited, target, onChange, isUnnamed }: PriceTargetFieldsProps) {
  const { prices: names } = useMessages();
  const providers = useControlState((state) => state.views?.providers ?? null) ?? [];
  const providerName = useProviderName();
  const ids = edited?.provider ? [edited.provider] : providers.filter(({ isDemo }) => !isDemo).map(({ id }) => id);
  return (
    <div className={classes.place}>
      {edited === null && (
        <TextInput
          label={names.model}
          description={names.modelHint}
          value={target.model}
          onChange={(event) => onChange({ ...target, model: event.currentTarget.value })}
          error={isUnnamed && names.unnamed}
          maxLength={512}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
      )}
      <NativeSelect
        label={names.appliesTo}
        description={edited === null ? names.appliesToHint : undefined}
        value={target.provider}
        onChange={(event) => onChange({ ...target, provider: event.currentTarget.value })}
        data={[
          ...ids.map((id) => ({ value: id, label: names.onlyAt(providerName(id)) })),
          { value: '', label: names.everywhere },
        ]}
      />
    </div>
  );
}

interface AmountGroupProps {
  group: FieldGroup;
  /** Whether it is open at first. */
  isOpen: boolean;
  children: ReactNode;
}

/** Amounts of one kind. Kinds that most models do not have are folded. */
function AmountGroup({ group, isOpen, children }: AmountGroupProps) {
  const { prices: names } = useMessages();
  const [wasOpen] = useState(isOpen);
  const { title, hint } = names.groups[group];
  if (group === 'tokens') {
    return (
      <Fieldset legend={title} hint={hint}>
        {children}
      </Fieldset>
    );
  }
  return (
    <details className={classes.group} open={wasOpen}>
      <summary>{title}</summary>
      <p className={classes.note}>{hint}</p>
      {children}
    </details>
  );
}

function hasAny(group: FieldGroup, draft: Record<string, string>): boolean {
  return fieldGroups[group].some((field) => (draft[field] ?? '') !== '');
}

interface AmountFieldProps {
  field: PriceField;
  text: string;
  onChange(text: string): void;
}

/** An input for one amount with its unit. Typed text stays, even if it is not a number. */
function AmountField({ field, text, onChange }: AmountFieldProps) {
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
