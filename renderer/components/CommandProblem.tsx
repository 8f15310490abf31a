import { IconAlertTriangle } from '@tabler/icons-react';
import type { ControlError } from '../api.ts';
import type { Messages } from '../messages/en.ts';
import { useMessages } from '../messages/use-messages.ts';
import classes from './CommandProblem.module.css';

/** Why a command failed: what that means, and what the engine said. */
export function CommandProblem({ problem }: { problem: ControlError }) {
  const { commandFailed } = useMessages();
  return (
    <p className={classes.problem} role="alert">
      <IconAlertTriangle className={classes.icon} size={16} aria-hidden />
      <span>
        {isKnown(problem.code, commandFailed) ? commandFailed[problem.code] : commandFailed.other}
        {problem.code !== 'unreachable' && ` ${problem.message}`}
      </span>
    </p>
  );
}

function isKnown(code: string | null, known: Messages['commandFailed']): code is keyof Messages['commandFailed'] {
  return code !== null && Object.hasOwn(known, code);
}
