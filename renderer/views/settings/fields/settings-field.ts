/** Types of the fields in settings forms. */
import type { SettingsChanges } from '../../../../server/contract/commands.ts';
import type { Settings } from '../../../../server/contract/settings.ts';
import type { StatusView } from '../../../../server/contract/status-views.ts';
import type { Messages } from '../../../messages/en/en.ts';

export type FieldName = keyof Messages['settings']['fields'];

interface FieldBasics {
  name: FieldName;
  /** Path of the setting, such as `ledger.retentionDays`; defaults to the field's name. */
  path?: string;
  /** Whether the setting applies to this installation; defaults to true. */
  isOf?(status: Pick<StatusView, 'sharedCounts'>): boolean;
  read(settings: Settings): string;
  /** Adds the value to `changes`. */
  write(text: string, changes: SettingsChanges): void;
}

interface NumberField extends FieldBasics {
  kind: 'number';
  min: number;
  max: number;
  unit?: keyof Messages['settings']['units'];
}

/** An amount of money above 0; empty for none. */
interface AmountField extends FieldBasics {
  kind: 'amount';
  unit: keyof Messages['settings']['units'];
}

interface ChoiceField extends FieldBasics {
  kind: 'choice';
  values: readonly string[];
}

/** Several texts, one per line. */
export interface LinesField extends FieldBasics {
  kind: 'lines';
}

/** A single text. */
interface TextField extends FieldBasics {
  kind: 'text';
}

export type SettingsField = NumberField | AmountField | ChoiceField | LinesField | TextField;
