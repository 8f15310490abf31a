import type { AttemptRecord } from '../../../server/contract/ledger.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { numbered } from '../request/numbered.ts';
import classes from './AttemptDots.module.css';

type AttemptState = 'failed' | 'stopped' | 'answered';

/** More would not fit into a row. */
const mostDots = 6;

/** How each attempt went, where there was more than one: a rescued request is red, red, green. */
export function AttemptDots({ attempts }: { attempts: readonly AttemptRecord[] }) {
  const { attemptStates, attemptsInWords } = useMessages().requests;
  if (attempts.length < 2) return null;
  const states = attempts.map(stateOf);
  const words = attemptsInWords(states.map((state) => attemptStates[state]));
  return (
    <span className={classes.dots} role="img" aria-label={words} title={words}>
      {numbered(states.slice(-mostDots)).map(({ key, value }) => (
        <span key={key} className={classes[value]} />
      ))}
    </span>
  );
}

function stateOf({ failure, error }: AttemptRecord): AttemptState {
  if (failure !== null && failure !== 'client-gone') return 'failed';
  return error === null && failure === null ? 'answered' : 'stopped';
}
