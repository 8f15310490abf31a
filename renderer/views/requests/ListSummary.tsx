import { useRef } from 'react';
import { useNow } from '../../components/use-now.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { useQuery } from '../../state/use-query.ts';
import classes from './Requests.module.css';
import { queryOf, type ShownFilter } from './request-filter.ts';

/** How often the count is asked for at most, while requests come. */
const everyMs = 3_000;

interface ListSummaryProps {
  filter: ShownFilter;
  /** How many of the newest were sorted, if not all. */
  sortedOf: number | null;
}

/** How many requests fit the filter, how many of them failed, and what is not said by the list itself. */
export function ListSummary({ filter, sortedOf }: ListSummaryProps) {
  const { messages, formats } = useLocalization();
  const names = messages.requests;
  // A range moves on with the clock, and so does its count.
  const roundMs = useNow((now) => Math.floor(now / everyMs) * everyMs);
  const latest = useControlState(({ requests: [request] }) => (request ? `${request.id} ${request.outcome}` : ''));
  const known = useRef({ roundMs, latest });
  if (known.current.roundMs !== roundMs) known.current = { roundMs, latest };
  const query = queryOf(filter, filter.range ? roundMs : 0);
  const { answer } = useQuery<'request-count'>({ type: 'request-count', filter: query }, known.current.latest);
  return (
    <p className={classes.summary} role="status">
      {answer && names.count(answer, formats.number(answer.requests), formats.number(answer.failed))}
      {sortedOf !== null && ` ${names.sortedOf(formats.number(sortedOf))}`}
    </p>
  );
}
