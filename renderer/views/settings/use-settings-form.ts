import { useState } from 'react';
import type { SettingsChanges } from '../../../server/contract/commands.ts';
import type { Settings } from '../../../server/contract/settings.ts';
import { type CommandRunner, useCommand } from '../../state/use-command.ts';
import type { FieldName, SettingsField } from './settings-fields.ts';

export interface SettingsForm {
  textOf(field: SettingsField): string;
  set(field: SettingsField, text: string): void;
  /** It is no number that can be sent. */
  isWrong(field: SettingsField): boolean;
  isChanged: boolean;
  canSave: boolean;
  save(): Promise<void>;
  undo(): void;
  command: CommandRunner;
}

/** What was typed and not saved, over what is in force. What others change meanwhile shows where nothing was typed. */
export function useSettingsForm(settings: Settings, fields: readonly SettingsField[]): SettingsForm {
  const [typed, setTyped] = useState<Partial<Record<FieldName, string>>>({});
  const command = useCommand();
  const textOf = (field: SettingsField) => typed[field.name] ?? field.read(settings);
  const changed = fields.filter((field) => textOf(field) !== field.read(settings));
  const isWrong = (field: SettingsField) => field.kind === 'number' && !isWithin(textOf(field), field);
  const undo = () => {
    setTyped({});
    command.forget();
  };
  return {
    textOf,
    set: (field, text) => setTyped((old) => ({ ...old, [field.name]: text })),
    isWrong,
    isChanged: changed.length > 0,
    canSave: changed.length > 0 && !fields.some(isWrong),
    async save() {
      const changes: SettingsChanges = {};
      for (const field of changed) field.write(textOf(field), changes);
      if (await command.run({ type: 'settings.update', changes })) undo();
    },
    undo,
    command,
  };
}

/** A value that is in force and was not typed anew may be no whole number of the field's unit. */
function isWithin(text: string, { min, max }: { min: number; max: number }): boolean {
  const value = Number(text);
  return text.trim() !== '' && Number.isFinite(value) && value >= min && value <= max;
}
