import { Link } from 'wouter';
import { RelativeTime } from '../../components/text/RelativeTime.tsx';
import type { Messages } from '../../messages/en/en.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { failureWordsOf } from '../../state/requests/failures.ts';
import classes from './ActivityBar.module.css';
import type { ProviderActivity } from './use-provider-activity.ts';

interface ActivityBarProps {
  id: string;
  name: string;
  /** Null if there were no requests; undefined while unknown, in which case nothing is stated. */
  activity: ProviderActivity | null | undefined;
}

/** Requests to a provider in the last 24 hours: a bar per hour, the cost, and the last error. */
export function ActivityBar({ id, name, activity }: ActivityBarProps) {
  const { messages, formats } = useLocalization();
  const names = messages.providers.activity;
  if (activity === undefined) return <p className={classes.soft}>…</p>;
  if (activity === null || activity.requests === 0) return <p className={classes.soft}>{names.none}</p>;
  const { requests, errors, costUsd } = activity;
  const summary = names.summary(names.requests(requests, formats.number(requests)), formats.percent(errors / requests));
  return (
    <div className={classes.activity}>
      <div className={classes.bars} role="img" aria-label={messages.labelled(names.title, summary)}>
        {activity.hours.map((hour) => (
          <span
            key={hour.startMs}
            className={classes.bar}
            data-share={shareOf(hour)}
            title={names.hour(
              formats.clock(hour.startMs),
              names.requests(hour.requests, formats.number(hour.requests)),
              formats.number(hour.errors),
            )}
          />
        ))}
      </div>
      <p className={classes.soft}>
        {summary}
        {costUsd !== null && ` · ${names.spend(formats.dollars(costUsd))}`}
        {' · '}
        <Link href={`/requests?provider=${encodeURIComponent(id)}`} aria-label={names.openNamed(name)}>
          {names.open}
        </Link>
      </p>
      {errors > 0 && <LastError id={id} count={errors} />}
    </div>
  );
}

/** In the provider's own words, if it sent any. */
function LastError({ id, count }: { id: string; count: number }) {
  const { messages, formats } = useLocalization();
  const { answer } = useQuery<'requests'>(
    { type: 'requests', filter: { provider: id, outcome: 'failed' }, limit: 1 },
    count,
  );
  const request = answer?.requests[0];
  if (!request) return null;
  const failed = request.attempts.findLast((attempt) => attempt.provider === id && attempt.error !== null);
  return (
    <p className={classes.error}>
      <RelativeTime moment={request.startedAt} phrase={messages.providers.activity.lastError} />
      {formats.gap}
      <Link href={`/requests/${request.id}`}>
        {failed?.error
          ? describeError(failed.error, messages)
          : [request.status, request.errorCode].filter(Boolean).join(' ')}
      </Link>
    </p>
  );
}

function describeError(error: string, { inspector, providers }: Messages): string {
  const { by, status, words } = failureWordsOf(error);
  if (status !== null) return providers.activity.answered(status, words);
  return by === 'connection' ? inspector.connectionError(words) : words;
}

/** Grades an hour by its share of errors. */
function shareOf({ requests, errors }: ProviderActivity['hours'][number]): 'none' | 'good' | 'some' | 'bad' {
  if (requests === 0) return 'none';
  if (errors === 0) return 'good';
  return errors / requests < 0.5 ? 'some' : 'bad';
}
