import { useMessages } from '../../messages/use-messages.ts';
import type { ControlState } from '../../state/control/control-state.ts';
import { useControlState } from '../../state/control/use-control.ts';
import classes from './ConnectionMark.module.css';

type Mark = ControlState['connection'] | 'notListening';

const dots: Record<Mark, string | undefined> = {
  connecting: undefined,
  open: classes.good,
  notListening: classes.bad,
  lost: classes.bad,
  'signed-out': undefined,
};

/** The state of the connection, in a word. */
export function ConnectionMark() {
  const mark = useControlState(markOf);
  const { connection } = useMessages();
  return (
    <span className={classes.mark} role="status">
      <span className={`${classes.dot} ${dots[mark] ?? ''}`} aria-hidden />
      {connection[mark]}
    </span>
  );
}

function markOf({ connection, views }: ControlState): Mark {
  return connection === 'open' && views?.status.baseUrl === null ? 'notListening' : connection;
}
