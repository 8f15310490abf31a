import { useState } from 'react';
import type { SettingsChanges } from '../../../../server/contract/commands.ts';
import type { Settings } from '../../../../server/contract/settings.ts';
import type { FieldPath } from '../../../../server/contract/settings-table.ts';
import { type CommandRunner, useCommand } from '../../../state/control/use-command.ts';
import { useEdits } from '../../../state/edits/edits.ts';
import { firstInvalidLine, type SettingsField, withField } from './settings-field.ts';

export interface SettingsForm {
  textOf(field: SettingsField): string;
  set(field: SettingsField, text: string): void;
  /** Whether the text is not a value that can be sent. */
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
  const edits = useEdits<Partial<Record<FieldPath, string>>>(
    Object.fromEntries(fields.map((field) => [field.path, field.read(settings)])),
  );
  const [finished, setFinished] = useState<ReadonlySet<FieldPath>>(new Set());
  const command = useCommand();
  const textOf = ({ path }: SettingsField) => edits.draft[path] ?? '';
  const isEdited = ({ path }: SettingsField) => edits.draft[path] !== edits.base[path];
  const changedFields = fields.filter(isEdited);
  const isInvalid = (field: SettingsField) => isEdited(field) && field.parse(textOf(field)) === undefined;
  const invalidLineIn = (field: SettingsField) =>
    isEdited(field) ? firstInvalidLine(field.path, textOf(field)) : null;
  const discard = () => {
    edits.reload();
    setFinished(new Set());
    command.forget();
  };
  const changes = () => changedFields.reduce<SettingsChanges>((all, field) => withField(all, field, textOf(field)), {});
  return {
    textOf,
    set: ({ path }, text) => edits.change({ [path]: text }),
    isInvalid,
    invalidLineOf: (field) => (finished.has(field.path) ? invalidLineIn(field) : null),
    finish: ({ path }) => setFinished((before) => new Set([...before, path])),
    finishAll() {
      setFinished(new Set(changedFields.map(({ path }) => path)));
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
