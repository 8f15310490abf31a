import { Button, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { KeyCassette } from '../../../server/contract/cassette.ts';
import type { Lock } from '../../../server/contract/lock.ts';
import { useMessages } from '../../messages/use-messages.ts';
import type { CommandRunner } from '../../state/control/use-command.ts';
import { isEqual } from '../../state/edits/edits.ts';
import { CassetteFields } from '../access/CassetteFields.tsx';
import { type CassetteDraft, cassetteDraftOf } from '../access/cassette-draft.ts';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
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
