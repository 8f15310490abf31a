import type { AttemptRecord } from '../../../../server/contract/ledger.ts';
import { withIndexKeys } from '../../../components/lists/with-index-keys.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import classes from './AttemptDots.module.css';

type AttemptState = 'failed' | 'stopped' | 'answered';

/** More would not fit into a row. */
const mostDots = 6;

/** The outcome of each attempt, if there were several: a rescued request is red, red, green. */
export function AttemptDots({ attempts }: { attempts: readonly AttemptRecord[] }) {
  const { messages, formats } = useLocalization();
  const { attemptStates, attemptsInWords } = messages.requests;
  if (attempts.length < 2) return null;
  const states = attempts.map(stateOf);
  const description = states.map((state) => attemptStates[state]).join(', ');
  const words = attemptsInWords(formats.number(states.length), description);
  return (
    <span className={classes.dots} role="img" aria-label={words} title={words}>
      {withIndexKeys(states.slice(-mostDots)).map(({ key, value }) => (
        <span key={key} className={classes[value]} />
      ))}
    </span>
  );
}

function stateOf({ failure, error }: AttemptRecord): AttemptState {
  if (failure !== null && failure !== 'client-gone') return 'failed';
  return error === null && failure === null ? 'answered' : 'stopped';
}
