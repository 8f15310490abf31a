import { type FormEvent, type ReactNode, useState } from 'react';
import { type SettingsPart as Part, settingEntry } from '../../../../server/contract/settings-table.ts';
import type { StatusView } from '../../../../server/contract/status-views.ts';
import { FormActions } from '../../../components/forms/FormActions.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { asControlError, type ControlError } from '../../../state/api/api.ts';
import { useControlState, useControlStore } from '../../../state/control/use-control.ts';
import { SettingsFieldInput } from '../fields/SettingsFieldInput.tsx';
import { fieldsOf, type SettingsField } from '../fields/settings-field.ts';
import { type SettingsForm, useSettingsForm } from '../fields/use-settings-form.ts';
import classes from '../Settings.module.css';
import { useFoundSettings } from '../search/use-found-settings.ts';
import { AdvancedToggle, useLevel } from './AdvancedToggle.tsx';
import { LostRecordsDialog } from './LostRecordsDialog.tsx';
import { type LostRecords, lostRecordsOf } from './lost-records.ts';

interface SettingsPartProps {
  part: Part;
  /** Shown below the fields; depends on the current input. */
  children?: ((form: SettingsForm) => ReactNode) | undefined;
}

/** A group of settings that are saved together. */
export function SettingsPart({ part, children }: SettingsPartProps) {
  const status = useControlState((state) => state.views?.status ?? null);
  const { settings: messages } = useMessages();
  return (
    <Section title={messages.parts[part]}>
      {status && (
        <PartForm part={part} status={status}>
          {children}
        </PartForm>
      )}
    </Section>
  );
}

function PartForm({ part, status, children }: SettingsPartProps & { status: StatusView }) {
  const { settings } = status;
  const fields = fieldsOf(part, status);
  const form = useSettingsForm(settings, fields);
  const store = useControlStore();
  const found = useFoundSettings();
  const level = useLevel();
  const isAdvanced = ({ path }: SettingsField) => settingEntry(path).level === 'advanced';
  // A section of nothing else needs no second click.
  const foldable = fields.every(isAdvanced) ? [] : fields.filter(isAdvanced);
  const isShown = (field: SettingsField) => {
    if (form.isEdited(field)) return true;
    return found.isAll ? level.isAdvanced || !foldable.includes(field) : found.hasRow(part, field.path);
  };
  const [lost, setLost] = useState<LostRecords | null>(null);
  const [problem, setProblem] = useState<ControlError | null>(null);
  const submit = async () => {
    if (!form.canSave || !form.finishAll()) return;
    setProblem(null);
    try {
      const lostRecords = await lostRecordsOf(store, settings, form.changes(), Date.now());
      if (lostRecords) setLost(lostRecords);
      else await form.save();
    } catch (error) {
      setProblem(asControlError(error));
    }
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    void submit();
  };
  const saveAsAsked = async () => {
    if (await form.save()) setLost(null);
  };
  const shown = problem ?? (lost ? null : form.command.problem);
  return (
    <form className={classes.form} onSubmit={onSubmit}>
      <div className={classes.fields}>
        {fields.filter(isShown).map((field) => (
          <SettingsFieldInput key={field.path} field={field} form={form} />
        ))}
        {found.isAll && foldable.length > 0 && <AdvancedToggle fields={foldable} level={level} />}
      </div>
      {children?.(form)}
      <FormActions
        isQuiet
        isChanged={form.isChanged}
        isBlocked={!form.canSave}
        conflict={form.conflict}
        command={{ isRunning: form.command.isRunning, problem: shown }}
        onDiscard={() => {
          setProblem(null);
          form.discard();
        }}
      />
      <LostRecordsDialog
        lost={lost}
        command={form.command}
        onConfirm={() => void saveAsAsked()}
        onClose={() => setLost(null)}
      />
    </form>
  );
}
