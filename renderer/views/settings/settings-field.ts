/** What a field of the settings' forms is. */
import type { SettingsChanges } from '../../../server/contract/commands.ts';
import type { Settings } from '../../../server/contract/settings.ts';
import type { StatusView } from '../../../server/contract/status-views.ts';
import type { Messages } from '../../messages/en.ts';

export type FieldName = keyof Messages['settings']['fields'];

interface FieldBasics {
  name: FieldName;
  /** Of the setting, such as `ledger.retentionDays`; absent: its name is the same. */
  path?: string;
  /** Whether this Sluice has any use for it; absent: each has. */
  isOf?(status: Pick<StatusView, 'sharedCounts'>): boolean;
  read(settings: Settings): string;
  /** Adds the value to what is changed. */
  write(text: string, changes: SettingsChanges): void;
}

interface NumberField extends FieldBasics {
  kind: 'number';
  min: number;
  max: number;
  unit?: keyof Messages['settings']['units'];
}

/** An amount of money above 0; empty: none. */
interface AmountField extends FieldBasics {
  kind: 'amount';
  unit: keyof Messages['settings']['units'];
}

interface ChoiceField extends FieldBasics {
  kind: 'choice';
  values: readonly string[];
}

/** Several texts, a line each. */
export interface LinesField extends FieldBasics {
  kind: 'lines';
}

/** One text. */
interface TextField extends FieldBasics {
  kind: 'text';
}

export type SettingsField = NumberField | AmountField | ChoiceField | LinesField | TextField;
