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
