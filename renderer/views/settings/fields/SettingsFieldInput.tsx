import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { ChangeEvent } from 'react';
import { Lockable } from '../../../components/locks/Lockable.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useCanChange } from '../../../state/rights/use-can-change.ts';
import { useLocks } from '../../../state/rights/use-locks.ts';
import { isChecked } from './invalid-lines.ts';
import { settingRow } from './setting-row.tsx';
import type { SettingsField } from './settings-field.ts';
import type { SettingsForm } from './use-settings-form.ts';

interface SettingsFieldProps {
  field: SettingsField;
  form: SettingsForm;
}

/** The input for one setting, according to its kind; disabled if locked. */
export function SettingsFieldInput({ field, form }: SettingsFieldProps) {
  return (
    <Lockable lock={useLocks().setting(field.path ?? field.name)}>
      <FieldInput field={field} form={form} />
    </Lockable>
  );
}

function FieldInput({ field, form }: SettingsFieldProps) {
  const { messages, formats } = useLocalization();
  const names = messages.settings;
  const canChange = useCanChange();
  const { label, hint } = names.fields[field.name];
  const unit = 'unit' in field ? field.unit : undefined;
  const shared = {
    ...settingRow(label, unit && names.units[unit]),
    description: hint,
    value: form.textOf(field),
    disabled: !canChange,
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>) =>
      form.set(field, event.currentTarget.value),
  };
  const invalidLine = form.invalidLineOf(field);
  const lineError =
    invalidLine !== null && isChecked(field.name) ? names.wrongLines[field.name](invalidLine) : undefined;
  const inputProps = { ...shared, error: lineError, onBlur: () => form.finish(field) };
  if (field.kind === 'lines') {
    return <Textarea {...inputProps} autosize minRows={2} maxRows={8} spellCheck={false} autoComplete="off" />;
  }
  if (field.kind === 'text') return <TextInput {...inputProps} spellCheck={false} autoComplete="off" />;
  if (field.kind === 'choice') {
    // Includes a value that was set by hand in the file.
    const values = new Set([...field.values, shared.value]);
    return <NativeSelect {...shared} data={[...values].map((value) => ({ value, label: choiceName(names, value) }))} />;
  }
  if (field.kind === 'amount') {
    const error = form.isInvalid(field) ? names.noAmount : undefined;
    return <TextInput {...shared} inputMode="decimal" autoComplete="off" error={error} />;
  }
  const range = names.range(formats.number(field.min), formats.number(field.max));
  return (
    <TextInput {...shared} inputMode="numeric" autoComplete="off" error={form.isInvalid(field) ? range : undefined} />
  );
}

function choiceName({ choices }: { choices: Record<string, string> }, value: string): string {
  return choices[value] ?? value;
}
