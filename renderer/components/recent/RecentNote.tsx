import { Button } from '@mantine/core';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import classes from './RecentNote.module.css';

/** Says that the newest requests are kept in memory, as long as they are, with the way to end it. */
export function RecentNote() {
  const { recentCapture: names } = useMessages();
  const isKept = useControlState(({ views }) => views !== null && views.status.recentCapture !== null);
  const command = useCommand();
  if (!isKept) return null;
  const end = () => void command.run({ type: 'settings.update', changes: { capture: { recent: 'off' } } });
  return (
    <div className={classes.note} role="note">
      <span>{names.note}</span>
      <Button size="compact-xs" variant="default" aria-label={names.endNamed} loading={command.isRunning} onClick={end}>
        {names.end}
      </Button>
      {command.problem && <CommandProblem problem={command.problem} />}
    </div>
  );
}

/** What becomes of what is sent and answered. Asked once. */
export function KeepQuestion() {
  const { recentCapture: names } = useMessages();
  const isAsked = useControlState(({ views }) => views?.status.recentCapture === 'unasked');
  const groups = useControlState(({ views }) => views?.groups ?? null);
  const command = useCommand();
  if (!isAsked) return null;
  const answer = async (recent: 'on' | 'off') =>
    command.run({ type: 'settings.update', changes: { capture: { recent } } });
  const keep = async () => {
    for (const { keyCount: _, limitUse: __, ...group } of groups ?? []) {
      if (!(await command.run({ type: 'group.put', group: { ...group, capture: true } }))) return;
    }
    await answer('off');
  };
  return (
    <div className={classes.question}>
      <h3 className={classes.title}>{names.question}</h3>
      <p className={classes.text}>{names.questionText}</p>
      {command.problem && <CommandProblem problem={command.problem} />}
      <div className={classes.answers}>
        <Button size="xs" variant="default" disabled={command.isRunning} onClick={() => void keep()}>
          {names.keepDays}
        </Button>
        <Button size="xs" variant="default" disabled={command.isRunning} onClick={() => void answer('on')}>
          {names.keepNewest}
        </Button>
        <Button size="xs" variant="default" disabled={command.isRunning} onClick={() => void answer('off')}>
          {names.keepNothing}
        </Button>
      </div>
    </div>
  );
}
