import { useEffect } from 'react';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import { FirstCall } from '../../components/FirstCall.tsx';
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useKeyChoice } from '../../state/use-key-choice.ts';
import { ListFoot } from './ListFoot.tsx';
import classes from './RequestTable.module.css';
import { RequestTable, rowsAhead } from './RequestTable.tsx';
import { type ShownFilter, searchOf } from './request-filter.ts';
import type { ShownRequests } from './use-requests.ts';

interface RequestListProps {
  shown: ShownRequests;
  filter: ShownFilter;
  /** The request that is shown in full. */
  openId: string | null;
  /** The one that is open or was last, which stays in sight. */
  anchorId: string | null;
  /** Two lines a request. */
  isNarrow: boolean;
  onHold(isHeld: boolean): void;
}

/** The requests that fit the filter. New ones come in at the top, but push nothing away while a person reads further down. */
export function RequestList({ shown, filter, openId, anchorId, isNarrow, onHold }: RequestListProps) {
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
        <Nothing filter={filter} problem={problem} />
      </div>
    );
  }
  // Rows of another height are another list.
  return (
    <RequestTable
      key={String(isNarrow)}
      shown={{ ...shown, requests }}
      filter={filter}
      openId={openId}
      anchorId={anchorId}
      isNarrow={isNarrow}
      onHold={onHold}
    />
  );
}

function Nothing({ filter, problem }: { filter: ShownFilter; problem: ShownRequests['problem'] }) {
  const { requests: names } = useMessages();
  const choice = useKeyChoice();
  if (problem) return <ListFoot isLoading={false} problem={problem} />;
  if (searchOf(filter) !== '') return <EmptyNote title={names.noneFit} next={names.noneFitNext} />;
  return (
    <EmptyNote title={names.emptyTitle} next={names.emptyNext}>
      <FirstCall choice={choice} />
    </EmptyNote>
  );
}
