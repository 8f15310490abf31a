import { Link } from 'wouter';
import type { AttemptRecord } from '../../../server/contract/ledger.ts';
import { CopyLine } from '../../components/CopyLine.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import { useProviderName } from '../providers/use-provider-name.ts';
import { AttemptUsage } from './AttemptUsage.tsx';
import classes from './RequestDetail.module.css';

/** Who was asked, in turn, and how each one answered. */
export function Attempts({ attempts }: { attempts: readonly AttemptRecord[] }) {
  const { messages, formats } = useLocalization();
  const { causes, droppedEvents, failures, noAttempts, noAnswer, upstreamId } = messages.requests;
  const providerName = useProviderName();
  if (attempts.length === 0) return <p className={classes.note}>{noAttempts}</p>;
  return (
    <ol className={classes.attempts}>
      {attempts.map((attempt) => (
        <li key={`${attempt.provider} ${attempt.startedAt} ${attempt.totalMs}`}>
          <div className={classes.attempt}>
            <Link href={`/providers/${attempt.provider}`}>{providerName(attempt.provider)}</Link>
            <span className={classes.mono}>{attempt.model}</span>
            <span className={attempt.failure ? classes.bad : undefined}>
              {attempt.status ?? noAnswer}
              {attempt.failure && ` · ${failures[attempt.failure]}`}
            </span>
            <span className={classes.end}>{attempt.totalMs !== null && formats.duration(attempt.totalMs)}</span>
          </div>
          {attempt.cause !== 'first' && <p className={classes.error}>{causes[attempt.cause]}</p>}
          {attempt.error && <p className={classes.error}>{attempt.error}</p>}
          {/* What the only one used is told of the request. */}
          {attempts.length > 1 && <AttemptUsage attempt={attempt} />}
          {attempt.droppedEvents > 0 && (
            <p className={classes.error}>
              {droppedEvents(attempt.droppedEvents, formats.number(attempt.droppedEvents))}
            </p>
          )}
          {attempt.upstreamRequestId && (
            <>
              <p className={classes.error}>{upstreamId}</p>
              <CopyLine value={attempt.upstreamRequestId} what={upstreamId} oneLine />
            </>
          )}
        </li>
      ))}
    </ol>
  );
}
