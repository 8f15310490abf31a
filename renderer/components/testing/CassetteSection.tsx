import { Button, NativeSelect, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import {
  type CassetteChoice,
  type CassetteMode,
  cassetteModes,
  isAbsoluteFolder,
  type KeyCassette,
} from '../../../server/contract/cassette.ts';
import { formatMessage } from '../../../server/contract/coded.ts';
import type { Lock } from '../../../server/contract/lock.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { type CommandRunner, useCommand } from '../../state/control/use-command.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { isEqual } from '../../state/edits/edits.ts';
import { CommandProblem, Problem } from '../feedback/CommandProblem.tsx';
import { Lockable } from '../locks/Lockable.tsx';
import classes from './Testing.module.css';

interface CassetteSectionProps {
  /** The setting in force; null if there is none. */
  saved: KeyCassette | null;
  /** Of a key, which may have that of its group. */
  hasGroup?: boolean;
  lock?: Lock | null;
  command: CommandRunner;
  onSave(draft: CassetteDraft): void;
}

/** Whether requests are recorded, or answered from recordings. */
export function CassetteSection({ saved, hasGroup = false, lock = null, command, onSave }: CassetteSectionProps) {
  const { save } = useMessages();
  const inForce = cassetteDraftOf(saved, hasGroup ? 'group' : 'off');
  const [draft, setDraft] = useState(inForce);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave(draft);
  };
  return (
    <form onSubmit={submit}>
      <Lockable lock={lock}>
        <Stack gap="sm">
          <CassetteFields
            draft={draft}
            saved={saved === 'off' ? null : saved}
            hasGroup={hasGroup}
            onChange={setDraft}
          />
          {command.problem && <CommandProblem problem={command.problem} />}
          <Button
            size="xs"
            variant="default"
            className={classes.start}
            type="submit"
            disabled={isEqual(draft, inForce)}
            loading={command.isRunning}
          >
            {save}
          </Button>
        </Stack>
      </Lockable>
    </form>
  );
}

interface CassetteFieldsProps {
  draft: CassetteDraft;
  /** The setting in force; null if there is none. */
  saved: CassetteChoice | null;
  /** Whether the setting can be inherited from a group. */
  hasGroup?: boolean;
  onChange(draft: CassetteDraft): void;
}

/** Whether requests are recorded or replayed, in which folder, and the results so far. */
function CassetteFields({ draft, saved, hasGroup = false, onChange }: CassetteFieldsProps) {
  const { cassettes: names } = useMessages();
  const { mode, folder } = draft;
  const isOff = mode === 'off' || mode === 'group';
  const modes = [...(hasGroup ? (['group'] as const) : []), 'off', ...cassetteModes] as const;
  return (
    <>
      <NativeSelect
        label={names.name}
        description={isOff ? names.hint : names.modeHints[mode]}
        value={mode}
        onChange={(event) => {
          const { value } = event.currentTarget;
          onChange({ ...draft, mode: modes.find((each) => each === value) ?? mode });
        }}
        data={modes.map((value) => ({ value, label: names.modes[value] }))}
      />
      {!isOff && (
        <TextInput
          label={names.folder}
          description={names.folderHint}
          value={folder}
          onChange={(event) => onChange({ ...draft, folder: event.currentTarget.value })}
          error={folder.trim() === '' || isAbsoluteFolder(folder.trim()) ? undefined : names.folderWrong}
          maxLength={4_096}
          required
          spellCheck={false}
          autoComplete="off"
        />
      )}
      {saved && <Contents cassette={saved} />}
    </>
  );
}

/** The contents and counters of the cassette, with the button that rewinds it. */
function Contents({ cassette }: { cassette: CassetteChoice }) {
  const { messages, formats } = useLocalization();
  const names = messages.cassettes;
  const views = useQuery<'cassettes'>({ type: 'cassettes' });
  const command = useCommand();
  const view = views.answer?.find(({ mode, folder }) => mode === cassette.mode && folder === cassette.folder);
  const rewind = async () => {
    if (await command.run({ type: 'cassette.rewind', folder: cassette.folder })) views.refetch();
  };
  if (!view) return null;
  const { mode, recordings, hits, misses, recorded, failed, problem } = view;
  const facts = [
    ...(recordings === null ? [names.unopened] : [names.holds(recordings, formats.number(recordings))]),
    ...(hits > 0 || mode === 'replay' ? [names.replayed(formats.number(hits))] : []),
    ...(misses > 0 ? [names.missed(formats.number(misses))] : []),
    ...(recorded > 0 ? [names.recorded(formats.number(recorded))] : []),
    ...(failed > 0 ? [names.failed(formats.number(failed))] : []),
  ];
  return (
    <div className={classes.contents}>
      <p role="status" className={classes.facts}>
        {(recordings === null ? [names.unopened] : facts).join(' · ')}
      </p>
      {problem !== null && (
        <Problem text={formatMessage(messages.controlProblems, { code: 'cassette-unusable', reason: problem })} />
      )}
      {command.problem && <CommandProblem problem={command.problem} />}
      {recordings !== null && (
        <Button
          variant="default"
          size="xs"
          title={names.rewindHint}
          loading={command.isRunning}
          onClick={() => void rewind()}
        >
          {names.rewind}
        </Button>
      )}
    </div>
  );
}

/** Cassette settings as typed. `group`: inherited from the key's group. */
interface CassetteDraft {
  mode: CassetteMode | 'group' | 'off';
  /** Kept while the mode is off. */
  folder: string;
}

/** `without`: the mode if nothing is saved. */
function cassetteDraftOf(saved: KeyCassette | null, without: 'group' | 'off'): CassetteDraft {
  if (saved === null) return { mode: without, folder: '' };
  return saved === 'off' ? { mode: 'off', folder: '' } : saved;
}

/** Null if off or inherited. */
export function cassetteOf({ mode, folder }: CassetteDraft): CassetteChoice | null {
  return mode === 'off' || mode === 'group' ? null : { mode, folder: folder.trim() };
}

/** In the form in which a key stores it. */
export function keyCassetteOf(draft: CassetteDraft): KeyCassette | null {
  return draft.mode === 'off' ? 'off' : cassetteOf(draft);
}
