import { Link } from 'wouter';
import type { AttemptRecord } from '../../../server/contract/ledger.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import classes from './RequestDetail.module.css';

/** Who was asked, in turn, and how each one answered. */
export function Attempts({ attempts }: { attempts: readonly AttemptRecord[] }) {
  const { messages, formats } = useLocalization();
  const { failures, noAttempts, noAnswer } = messages.requests;
  if (attempts.length === 0) return <p className={classes.note}>{noAttempts}</p>;
  return (
    <ol className={classes.attempts}>
      {attempts.map((attempt) => (
        <li key={`${attempt.provider} ${attempt.startedAt} ${attempt.totalMs}`}>
          <div className={classes.attempt}>
            <Link href={`/providers/${attempt.provider}`}>{attempt.provider}</Link>
            <span className={classes.mono}>{attempt.model}</span>
            <span className={attempt.failure ? classes.bad : undefined}>
              {attempt.status ?? noAnswer}
              {attempt.failure && ` · ${failures[attempt.failure]}`}
            </span>
            <span className={classes.end}>{attempt.totalMs !== null && formats.duration(attempt.totalMs)}</span>
          </div>
          {attempt.error && <p className={classes.error}>{attempt.error}</p>}
        </li>
      ))}
    </ol>
  );
}
