import { Button } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { useSearch } from 'wouter';
import type { SettingsChanges } from '../../../../server/contract/commands.ts';
import type { Settings } from '../../../../server/contract/settings.ts';
import { type SettingsPart as Part, settingEntry } from '../../../../server/contract/settings-table.ts';
import type { StatusView } from '../../../../server/contract/status-views.ts';
import { dayMs } from '../../../../server/contract/units.ts';
import { ConfirmDialog } from '../../../components/dialogs/ConfirmDialog.tsx';
import { FormActions } from '../../../components/forms/FormActions.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { type Localization, useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { asControlError, type ControlApi, type ControlError } from '../../../state/api/api.ts';
import type { CommandRunner } from '../../../state/control/use-command.ts';
import { useControlState, useControlStore } from '../../../state/control/use-control.ts';
import { createSessionValue, useSessionValue } from '../../../state/window/session-value.ts';
import { SettingsFieldInput } from '../fields/SettingsFieldInput.tsx';
import { fieldsOf, type SettingsField } from '../fields/settings-field.ts';
import { type SettingsForm, useSettingsForm } from '../fields/use-settings-form.ts';
import classes from '../Settings.module.css';
import { useFoundSettings } from '../search/settings-sections.ts';

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

interface Level {
  /** Settings that most people never need are shown too, in every section. */
  isAdvanced: boolean;
  setAdvanced(isAdvanced: boolean): void;
}

const showsAdvanced = createSessionValue<boolean>(false);

/** Basic at first; a link may ask for the advanced settings: `/settings?section=serving&level=advanced`. */
function useLevel(): Level {
  const [isAdvanced, setAdvanced] = useSessionValue(showsAdvanced);
  const isAskedFor = new URLSearchParams(useSearch()).get('level') === 'advanced';
  useEffect(() => {
    if (isAskedFor) setAdvanced(true);
  }, [isAskedFor, setAdvanced]);
  return { isAdvanced, setAdvanced };
}

interface AdvancedToggleProps {
  /** The advanced ones of the section. */
  fields: readonly SettingsField[];
  level: Level;
}

/** Shows or hides the advanced settings. */
function AdvancedToggle({ fields, level: { isAdvanced, setAdvanced } }: AdvancedToggleProps) {
  const { messages, formats } = useLocalization();
  const Chevron = isAdvanced ? IconChevronDown : IconChevronRight;
  return (
    <div>
      <Button
        size="xs"
        variant="subtle"
        color="gray"
        leftSection={<Chevron size={14} aria-hidden />}
        aria-expanded={isAdvanced}
        onClick={() => setAdvanced(!isAdvanced)}
      >
        {messages.settings.advanced(formats.number(fields.length))}
      </Button>
    </div>
  );
}

interface LostRecordsDialogProps {
  /** Null while there is nothing to confirm. */
  lost: LostRecords | null;
  command: CommandRunner;
  onConfirm(): void;
  onClose(): void;
}

/** Asks for confirmation before settings are saved that delete records. */
function LostRecordsDialog({ lost, command, onConfirm, onClose }: LostRecordsDialogProps) {
  const localization = useLocalization();
  const names = localization.messages.settings.lost;
  return (
    <ConfirmDialog
      opened={lost !== null}
      title={names.title}
      text={lost ? describe(lost, localization) : ''}
      confirm={names.confirm}
      isRunning={command.isRunning}
      problem={command.problem}
      onConfirm={onConfirm}
      onClose={onClose}
    />
  );
}

function describe({ requests, allButNewest, capturesBeforeMs }: LostRecords, localization: Localization): string {
  const { messages, formats } = localization;
  const names = messages.settings.lost;
  const sentences = [
    requests && names.requests(requests.count, formats.number(requests.count), formats.fullMoment(requests.beforeMs)),
    allButNewest !== null && names.allButNewest(allButNewest, formats.number(allButNewest)),
    capturesBeforeMs !== null && names.captures(formats.fullMoment(capturesBeforeMs)),
    names.forGood,
  ];
  return sentences.filter(Boolean).join(formats.gap);
}

/** What lower retention settings would delete for good; queried before they are saved. */
interface LostRecords {
  /** Requests from before that time, with their usage. */
  requests: { count: number; beforeMs: number } | null;
  /** All requests except this many. */
  allButNewest: number | null;
  /** Captures from before that time. It is only known that there were requests, not whether any were captured. */
  capturesBeforeMs: number | null;
}

/** Null if nothing would be deleted. */
async function lostRecordsOf(
  { query }: Pick<ControlApi, 'query'>,
  settings: Settings,
  changes: SettingsChanges,
  nowMs: number,
): Promise<LostRecords | null> {
  const days = ifLowered(settings.ledger.retentionDays, changes.ledger?.retentionDays);
  const rows = ifLowered(settings.ledger.retentionRows, changes.ledger?.retentionRows);
  const captureDays = ifLowered(settings.capture.retentionDays, changes.capture?.retentionDays);
  const countBefore = async (untilMs: number) => {
    const summed = await query<'usage'>({ type: 'usage', by: 'day', untilMs });
    return summed.reduce((count, { requests }) => count + requests, 0);
  };
  const isMoreThan = async (limit: number) => {
    const newest = await query<'requests'>({ type: 'requests', limit: 1 });
    const before = (newest.requests[0]?.seq ?? 0) - limit + 1;
    return (await query<'requests'>({ type: 'requests', before, limit: 1 })).requests.length > 0;
  };
  const beforeMs = nowMs - (days ?? 0) * dayMs;
  const count = days === null ? 0 : await countBefore(beforeMs);
  const allButNewest = rows !== null && (await isMoreThan(rows)) ? rows : null;
  const captureMs = nowMs - (captureDays ?? 0) * dayMs;
  const capturesBeforeMs = captureDays !== null && (await countBefore(captureMs)) > 0 ? captureMs : null;
  if (count === 0 && allButNewest === null && capturesBeforeMs === null) return null;
  return { requests: count > 0 ? { count, beforeMs } : null, allButNewest, capturesBeforeMs };
}

function ifLowered(now: number, previous: number | undefined): number | null {
  return previous !== undefined && previous < now ? previous : null;
}
