import { ActionIcon, Button, Textarea } from '@mantine/core';
import { IconPin, IconPinFilled } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { longestNote } from '../../../../server/contract/pins.ts';
import type { PinView, RequestInFull } from '../../../../server/contract/request-views.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { type CommandRunner, useCommand } from '../../../state/control/use-command.ts';
import classes from './RequestPanel.module.css';

interface PinButtonProps {
  full: RequestInFull;
  command: CommandRunner;
}

/** Pins a request, or no longer. */
export function PinButton({ full: { request, pin }, command }: PinButtonProps) {
  const { pins: names } = useMessages().requests;
  const label = pin ? names.unpin : names.pin;
  return (
    <ActionIcon
      className={classes.headAct}
      variant="subtle"
      color={pin ? 'water' : 'gray'}
      aria-label={label}
      aria-pressed={pin !== null}
      title={label}
      onClick={() => void command.run({ type: pin ? 'request.unpin' : 'request.pin', id: request.id })}
    >
      {pin ? <IconPinFilled size={18} /> : <IconPin size={18} />}
    </ActionIcon>
  );
}

interface PinNoteProps {
  id: string;
  pin: PinView;
}

/** The note of a pinned request, which can be edited in its place. */
export function PinNote({ id, pin }: PinNoteProps) {
  const { requests, cancel } = useMessages();
  const { pins: names } = requests;
  const command = useCommand();
  const [draft, setDraft] = useState<string | null>(null);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (await command.run({ type: 'request.pin', id, note: draft ?? '' })) setDraft(null);
  };
  if (draft === null) {
    return (
      <p className={classes.pinNote}>
        <span className={classes.pinText}>{pin.note ?? names.kept}</span>
        <Button size="compact-xs" variant="subtle" onClick={() => setDraft(pin.note ?? '')}>
          {pin.note === null ? names.addNote : names.editNote}
        </Button>
      </p>
    );
  }
  return (
    <form className={classes.pinForm} onSubmit={(event) => void save(event)}>
      <Textarea
        aria-label={names.note}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={longestNote}
        value={draft}
        autoFocus
        onChange={({ currentTarget }) => setDraft(currentTarget.value)}
      />
      <div className={classes.pinActs}>
        <Button size="compact-xs" type="submit" loading={command.isRunning}>
          {names.save}
        </Button>
        <Button size="compact-xs" variant="default" onClick={() => setDraft(null)}>
          {cancel}
        </Button>
      </div>
      {command.problem && <CommandProblem problem={command.problem} />}
    </form>
  );
}
