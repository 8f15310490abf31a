import { IconAlertTriangle } from '@tabler/icons-react';
import { formatMessage } from '../../../server/contract/coded.ts';
import type { Messages } from '../../messages/en/en.ts';
import { useMessages } from '../../messages/use-messages.ts';
import type { ControlError } from '../../state/api/api.ts';
import classes from './CommandProblem.module.css';

/** Why a command failed: what the error means, and the engine's message. */
export function CommandProblem({ problem }: { problem: ControlError }) {
  return <Problem text={describeProblem(problem, useMessages())} />;
}

export function describeProblem(
  problem: ControlError,
  { commandFailed, controlProblems }: Pick<Messages, 'commandFailed' | 'controlProblems'>,
): string {
  return problem.problem ? formatMessage(controlProblems, problem.problem) : generalText(problem, commandFailed);
}

export function Problem({ text }: { text: string }) {
  return (
    <p className={classes.problem} role="alert">
      <IconAlertTriangle className={classes.icon} size={16} aria-hidden />
      <span>{text}</span>
    </p>
  );
}

/**
 * The engine's message is in English, so it is preceded by a general explanation in the window's language. Errors of
 * the window itself are already worded in that language.
 */
function generalText({ code, message }: ControlError, texts: Messages['commandFailed']): string {
  if (code === 'window') return message;
  const general = isKnown(code, texts) ? texts[code] : texts.other;
  return code === 'unreachable' || code === 'unanswered' ? general : `${general} ${message}`;
}
function isKnown(code: string | null, texts: Messages['commandFailed']): code is keyof Messages['commandFailed'] {
  return code !== null && Object.hasOwn(texts, code);
}
