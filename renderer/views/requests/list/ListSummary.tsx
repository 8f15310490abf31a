import { type ReactNode, useRef } from 'react';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import { queryOf, type ShownFilter } from '../../../state/requests/request-filter.ts';
import { useNow } from '../../../state/window/use-now.ts';
import classes from '../Requests.module.css';
import { sortedSize } from './use-requests.ts';

/** The minimum interval between two counts while requests arrive. */
const everyMs = 3_000;

interface ListSummaryProps {
  filter: ShownFilter;
  /** How many are listed so far. */
  listed: number;
  /** The number of newest requests that were sorted; null if all were. */
  sortedOf: number | null;
  /** What else is to be said of the list. */
  children: ReactNode;
}

/** How many requests match the filter and how many of them failed, and whether only a part was sorted. */
export function ListSummary({ filter, listed, sortedOf, children }: ListSummaryProps) {
  const { messages, formats } = useLocalization();
  const names = messages.requests;
  // A time range moves with the clock, so its count does too.
  const roundMs = useNow((now) => Math.floor(now / everyMs) * everyMs);
  const latest = useControlState(({ requests: [request] }) => (request ? `${request.id} ${request.outcome}` : ''));
  const latestAtRound = useRef({ roundMs, latest });
  if (latestAtRound.current.roundMs !== roundMs) latestAtRound.current = { roundMs, latest };
  const query = queryOf(filter, filter.range ? roundMs : 0);
  const { answer } = useQuery<'request-count'>(
    { type: 'request-count', filter: query },
    `${latestAtRound.current.latest} ${filter.pinned ? listed : ''}`,
  );
  const isCut = filter.sort !== undefined && listed >= sortedSize && answer !== null && answer.requests > listed;
  return (
    <p className={classes.summary} role="status">
      {answer && names.count(answer, formats.number(answer.requests), formats.number(answer.failed))}
      {isCut && ` ${names.listedFirst(formats.number(listed))}`}
      {sortedOf !== null && ` ${names.sortedOf(formats.number(sortedOf))}`}
      {children}
    </p>
  );
}
