import { useState } from 'react';
import type { SettingsChanges } from '../../../../server/contract/commands.ts';
import type { Settings } from '../../../../server/contract/settings.ts';
import { type CommandRunner, useCommand } from '../../../state/control/use-command.ts';
import { useEdits } from '../../../state/edits/use-edits.ts';
import { firstInvalidLine } from './invalid-lines.ts';
import type { FieldName, SettingsField } from './settings-field.ts';

export interface SettingsForm {
  textOf(field: SettingsField): string;
  set(field: SettingsField, text: string): void;
  /** Whether the text is not a number or amount that can be sent. */
  isInvalid(field: SettingsField): boolean;
  /** The first invalid line, once the person has finished typing. */
  invalidLineOf(field: SettingsField): string | null;
  /** Called when the person leaves the field or wants to save it. */
  finish(field: SettingsField): void;
  /** Whether the field differs from the value in force. */
  isEdited(field: SettingsField): boolean;
  isChanged: boolean;
  canSave: boolean;
  /** Returns whether all lines are valid; invalid ones are shown from now on. */
  finishAll(): boolean;
  changes(): SettingsChanges;
  /** Resolves with whether it succeeded. */
  save(): Promise<boolean>;
  discard(): void;
  /** Set if an edited value was also changed elsewhere. */
  conflict: { onKeep(): void } | null;
  command: CommandRunner;
}

/** Holds unsaved edits over the settings in force. */
export function useSettingsForm(settings: Settings, fields: readonly SettingsField[]): SettingsForm {
  const edits = useEdits<Partial<Record<FieldName, string>>>(
    Object.fromEntries(fields.map((field) => [field.name, field.read(settings)])),
  );
  const [finished, setFinished] = useState<ReadonlySet<FieldName>>(new Set());
  const command = useCommand();
  const textOf = ({ name }: SettingsField) => edits.draft[name] ?? '';
  const isEdited = ({ name }: SettingsField) => edits.draft[name] !== edits.base[name];
  const changedFields = fields.filter(isEdited);
  const isInvalid = (field: SettingsField) =>
    (field.kind === 'number' && !isWithin(textOf(field), field)) ||
    (field.kind === 'amount' && !isAmount(textOf(field)));
  const invalidLineIn = (field: SettingsField) =>
    isEdited(field) ? firstInvalidLine(field.name, textOf(field)) : null;
  const discard = () => {
    edits.reload();
    setFinished(new Set());
    command.forget();
  };
  const changes = () => {
    const changed: SettingsChanges = {};
    for (const field of changedFields) field.write(textOf(field), changed);
    return changed;
  };
  return {
    textOf,
    set: ({ name }, text) => edits.change({ [name]: text }),
    isInvalid,
    invalidLineOf: (field) => (finished.has(field.name) ? invalidLineIn(field) : null),
    finish: ({ name }) => setFinished((before) => new Set([...before, name])),
    finishAll() {
      setFinished(new Set(changedFields.map(({ name }) => name)));
      return changedFields.every((field) => invalidLineIn(field) === null);
    },
    isEdited,
    isChanged: edits.isChanged,
    canSave: edits.isChanged && !edits.hasConflict && !fields.some(isInvalid),
    changes,
    async save() {
      const saved = await command.run({ type: 'settings.update', changes: changes() });
      if (saved) edits.settle();
      return saved !== null;
    },
    discard,
    conflict: edits.hasConflict ? { onKeep: edits.keep } : null,
    command,
  };
}

function isAmount(text: string): boolean {
  const amount = Number(text);
  return text.trim() === '' || (Number.isFinite(amount) && amount > 0);
}

/** Does not require a whole number, because an unedited value may not be a multiple of the field's unit. */
function isWithin(text: string, { min, max }: { min: number; max: number }): boolean {
  const value = Number(text);
  return text.trim() !== '' && Number.isFinite(value) && value >= min && value <= max;
}
