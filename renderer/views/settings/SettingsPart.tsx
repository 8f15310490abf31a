import type { FormEvent, ReactNode } from 'react';
import type { Settings } from '../../../server/contract/settings.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { FormActs } from '../../components/FormActs.tsx';
import { Section } from '../../components/Section.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import classes from './Settings.module.css';
import { SettingsFieldInput } from './SettingsFieldInput.tsx';
import { settingsParts } from './settings-fields.ts';
import { type SettingsForm, useSettingsForm } from './use-settings-form.ts';

export interface SettingsPartProps {
  part: keyof typeof settingsParts;
  /** Below the fields, by what is entered. */
  children?: ((form: SettingsForm) => ReactNode) | undefined;
}

/** Settings that are saved together. */
export function SettingsPart({ part, children }: SettingsPartProps) {
  const settings = useControlState((state) => state.views?.status.settings ?? null);
  const { settings: messages } = useMessages();
  return (
    <Section title={messages.parts[part]}>
      {settings && (
        <PartForm part={part} settings={settings}>
          {children}
        </PartForm>
      )}
    </Section>
  );
}

function PartForm({ part, settings, children }: SettingsPartProps & { settings: Settings }) {
  const fields = settingsParts[part];
  const form = useSettingsForm(settings, fields);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (form.canSave) void form.save();
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      <div className={classes.fields}>
        {fields.map((field) => (
          <SettingsFieldInput key={field.name} field={field} form={form} />
        ))}
      </div>
      {children?.(form)}
      {form.command.problem && <CommandProblem problem={form.command.problem} />}
      <FormActs isChanged={form.isChanged} isBlocked={!form.canSave} command={form.command} onUndo={form.undo} />
    </form>
  );
}
