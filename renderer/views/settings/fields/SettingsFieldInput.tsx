import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { ChangeEvent } from 'react';
import { settingEntry } from '../../../../server/contract/settings-table.ts';
import { Lockable } from '../../../components/locks/Lockable.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useCanChange, useLocks } from '../../../state/rights/use-rights.ts';
import { settingRow } from './setting-row.tsx';
import { choicesOf, describeBounds, isChecked, isStructured, type SettingsField } from './settings-field.ts';
import type { SettingsForm } from './use-settings-form.ts';

interface SettingsFieldProps {
  field: SettingsField;
  form: SettingsForm;
}

/** The input for one setting, according to its kind; disabled if locked. */
export function SettingsFieldInput({ field, form }: SettingsFieldProps) {
  return (
    <Lockable lock={useLocks().setting(field.path)}>
      <FieldInput field={field} form={form} />
    </Lockable>
  );
}

function FieldInput({ field, form }: SettingsFieldProps) {
  const localization = useLocalization();
  const shared = useInputProps(field, form);
  const lineError = useLineError(field, form);
  const { shape, path } = field;
  const choices = choicesOf(field, form.textOf(field), localization.messages);
  if (path === 'host') return <HostInput field={field} form={form} />;
  if (choices) return <NativeSelect {...shared} data={choices} />;
  if (shape.kind === 'number') {
    const error = form.isInvalid(field) ? describeBounds(shape, field.scale, localization) : undefined;
    const inputMode = shape.isWhole && field.scale === 1 ? 'numeric' : 'decimal';
    return <TextInput {...shared} inputMode={inputMode} autoComplete="off" error={error} />;
  }
  const inputProps = {
    ...shared,
    error: lineError,
    onBlur: () => form.finish(field),
    spellCheck: false,
    autoComplete: 'off',
  };
  const isMultiline = shape.kind === 'texts' || isStructured(path);
  return isMultiline ? <Textarea {...inputProps} autosize minRows={2} maxRows={8} /> : <TextInput {...inputProps} />;
}

/** The two usual addresses, or any other one. */
function HostInput({ field, form }: SettingsFieldProps) {
  const { settings: names } = useLocalization().messages;
  const shared = useInputProps(field, form);
  const { host: hosts } = names.choices;
  const isOther = !Object.hasOwn(hosts, shared.value);
  const data = [
    ...Object.entries(hosts).map(([value, label]) => ({ value, label })),
    { value: '', label: names.otherHost },
  ];
  return (
    <>
      <NativeSelect {...shared} value={isOther ? '' : shared.value} data={data} />
      {isOther && (
        <TextInput
          {...settingRow(names.hostAddress)}
          description={names.hostAddressHint}
          value={shared.value}
          disabled={shared.disabled}
          onChange={shared.onChange}
          spellCheck={false}
          autoComplete="off"
        />
      )}
    </>
  );
}

/** What all inputs of fields have. */
function useInputProps(field: SettingsField, form: SettingsForm) {
  const { messages, formats } = useLocalization();
  const { settings: names } = messages;
  const isDisabled = !useCanChange();
  const { label, hint } = names.fields[field.path];
  const { needsRestart, window } = settingEntry(field.path);
  // The notes below the address say so themselves.
  const tellsRestart = needsRestart && window !== 'address';
  return {
    ...settingRow(label, field.unit ? names.units[field.unit] : undefined),
    description: tellsRestart ? [hint, names.nextStart].join(formats.gap) : hint,
    value: form.textOf(field),
    disabled: isDisabled,
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>) =>
      form.set(field, event.currentTarget.value),
  };
}

function useLineError(field: SettingsField, form: SettingsForm): string | undefined {
  const { wrongLines } = useLocalization().messages.settings;
  const line = form.invalidLineOf(field);
  return line !== null && isChecked(field.path) ? wrongLines[field.path](line) : undefined;
}
