import { useEffect } from 'react';
import { EmptyNote } from '../../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../../components/feedback/ListSkeleton.tsx';
import { FirstCall } from '../../../components/first-call/FirstCall.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useKeyChoice } from '../../../state/choices/use-key-choice.ts';
import { type ShownFilter, searchOf } from '../../../state/requests/request-filter.ts';
import type { ColumnName } from './columns.ts';
import classes from './RequestTable.module.css';
import { ListFoot, RequestTable, rowsAhead } from './RequestTable.tsx';
import type { ShownRequests } from './use-requests.ts';

interface RequestListProps {
  shown: ShownRequests;
  filter: ShownFilter;
  /** The request whose details are open. */
  openId: string | null;
  /** The request that is or was last open; kept in view. */
  anchorId: string | null;
  columns: readonly ColumnName[];
  pinnedIds: ReadonlySet<string>;
  /** Two lines per request. */
  isNarrow: boolean;
  onHold(isHeld: boolean): void;
}

/**
 * The requests that match the filter. New ones appear at the top, but do not move the list while a person reads further
 * down.
 */
export function RequestList({ shown, filter, ...table }: RequestListProps) {
  const { isNarrow } = table;
  const { requests, hasMore, isLoading, problem, loadMore } = shown;
  const isShort = requests !== null && requests.length < rowsAhead && hasMore && !problem;
  useEffect(() => {
    if (isShort && !isLoading) loadMore();
  }, [isShort, isLoading, loadMore]);
  if (!requests || (requests.length === 0 && isShort)) {
    return (
      <div className={classes.panel}>
        <ListSkeleton rows={5} rowHeight={36} />
      </div>
    );
  }
  if (requests.length === 0) {
    return (
      <div className={classes.panel}>
        <Nothing filter={filter} problem={problem} repairedPercent={shown.repairedPercent} />
      </div>
    );
  }
  // Remounted if the row height changes.
  return <RequestTable key={String(isNarrow)} shown={{ ...shown, requests }} filter={filter} {...table} />;
}

type NothingProps = Pick<RequestListProps, 'filter'> & Pick<ShownRequests, 'problem' | 'repairedPercent'>;

function Nothing({ filter, problem, repairedPercent }: NothingProps) {
  const { requests: names } = useMessages();
  const choice = useKeyChoice();
  if (problem) return <ListFoot isLoading={false} problem={problem} />;
  if (repairedPercent !== null) return <EmptyNote title={names.noneFitYet} next={names.noneFitYetNext} />;
  if (searchOf(filter) !== '') return <EmptyNote title={names.noneFit} next={names.noneFitNext} />;
  return (
    <EmptyNote title={names.emptyTitle} next={names.emptyNext}>
      <FirstCall choice={choice} />
    </EmptyNote>
  );
}
