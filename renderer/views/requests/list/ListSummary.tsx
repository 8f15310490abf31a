import { Button, NativeSelect } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { fitsFilter } from '../../../../server/contract/request-filter.ts';
import type { RequestView } from '../../../../server/contract/request-views.ts';
import { VerdictCounts } from '../../../components/usage/VerdictCounts.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import {
  hrefOf,
  isLive,
  queryOf,
  type ShownFilter,
  searchOf,
  sortOf,
  sorts,
  sortTextOf,
} from '../../../state/requests/request-filter.ts';
import { useNow } from '../../../state/window/use-now.ts';
import classes from '../Requests.module.css';
import { type ShownRequests, sortedSize } from './use-requests.ts';

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

/** How many requests match the filter, how many of them failed or were refused, and whether only a part was sorted. */
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
  // The figures are links within the sentence.
  const [before, after] = answer ? names.count(answer, formats.number(answer.requests), '\n').split('\n') : [];
  const onlyThese = (outcome: 'failed' | 'refused') => `/requests${searchOf({ ...filter, outcome })}`;
  const isCut = filter.sort !== undefined && listed >= sortedSize && answer !== null && answer.requests > listed;
  return (
    <p className={classes.summary} role="status">
      {answer && (
        <>
          {before}
          <VerdictCounts counts={answer} hrefOf={filter.outcome === undefined ? onlyThese : undefined} saysNone />
          {after}
        </>
      )}
      {isCut && ` ${names.listedFirst(formats.number(listed))}`}
      {sortedOf !== null && ` ${names.sortedOf(formats.number(sortedOf))}`}
      {children}
    </p>
  );
}

/** How many pages are loaded to find the row of a request that a link has opened. */
const mostPages = 5;

/**
 * Loads the list as far as the open request. Whether it has no row: it does not match the filter, or is further back than
 * is loaded for it.
 */
export function useIsOutside(
  { requests, hasMore, isLoading, problem, ...shown }: ShownRequests,
  openId: string | null,
) {
  const tried = useRef({ openId, pages: 0, isNewShown: false });
  if (tried.current.openId !== openId) tried.current = { openId, pages: 0, isNewShown: false };
  const isMissing = openId !== null && requests !== null && !requests.some(({ id }) => id === openId);
  const isSettled = isMissing && !isLoading && !problem;
  const isNew = useControlState((state) => isSettled && state.requests.some(({ id }) => id === openId));
  const { waiting, showWaiting, loadMore } = shown;
  const mayShowNew = isNew && waiting > 0 && !tried.current.isNewShown;
  const mayLoad = isSettled && !isNew && hasMore && tried.current.pages < mostPages;
  useEffect(() => {
    if (mayShowNew) {
      tried.current.isNewShown = true;
      showWaiting();
    } else if (mayLoad) {
      tried.current.pages++;
      loadMore();
    }
  });
  return isSettled && !mayShowNew && !mayLoad;
}

interface OutsideNoteProps {
  /** The open request, which has no row. */
  id: string;
  filter: ShownFilter;
}

/** Says that the open request is not in the list, and leads to a list that has it. */
export function OutsideNote({ id, filter }: OutsideNoteProps) {
  const { requests: names } = useMessages();
  const [, navigate] = useLocation();
  const isNew = useControlState((state) => state.requests.some((request) => request.id === id));
  const { answer } = useQuery<'request'>({ type: 'request', id });
  if (answer?.request.id !== id) return null;
  const { request } = answer;
  const isFitting = fits(request, filter);
  const shown = { ...(isFitting && filter), ...(!isNew && { untilMs: request.startedAt + 1 }) };
  return (
    <>
      {' '}
      {isFitting ? names.outside.older : names.outside.filtered}{' '}
      <Button
        variant="subtle"
        size="compact-xs"
        onClick={() => navigate(hrefOf(id, searchOf(shown)), { replace: true })}
      >
        {names.outside.show}
      </Button>
    </>
  );
}

/** Whether the request matches; false if only the engine can tell, or the list is cut by its order. */
function fits(request: RequestView, filter: ShownFilter): boolean {
  return isLive(filter) && fitsFilter(request, queryOf(filter, Date.now()));
}

const askEveryMs = 2_000;

interface RepairNoteProps {
  /** Per cent that was repaired when the list was loaded. */
  listedPercent: number;
  search: string | undefined;
  onRepaired(): void;
}

/** Says how much of the search is repaired, until all of it is. */
export function RepairNote({ listedPercent, search, onRepaired }: RepairNoteProps) {
  const { messages, formats } = useLocalization();
  const round = useNow((now) => Math.floor(now / askEveryMs));
  const { answer } = useQuery<'requests'>({ type: 'requests', filter: { search }, limit: 1 }, round);
  const isRepaired = answer !== null && answer.repairedPercent === null;
  useEffect(() => {
    if (isRepaired) onRepaired();
  }, [isRepaired, onRepaired]);
  const percent = answer ? answer.repairedPercent : listedPercent;
  return percent === null ? null : ` ${messages.requests.beingRepaired(formats.number(percent))}`;
}

/** Replaces the sortable column headings if there is no room for columns. */
export function SortChoice({ filter }: { filter: ShownFilter }) {
  const { requests: names } = useMessages();
  const [, navigate] = useLocation();
  const { sort, ...others } = filter;
  const choose = (value: string) => {
    const chosen = sortOf(value);
    navigate(`/requests${searchOf(chosen ? { ...others, sort: chosen } : others)}`);
  };
  return (
    <NativeSelect
      className={classes.sort}
      size="xs"
      aria-label={names.sort}
      data={[
        { value: '', label: names.newestFirst },
        ...sorts.map((by) => ({ value: `-${by}`, label: names.highestFirst[by] })),
        ...sorts.map((by) => ({ value: by, label: names.lowestFirst[by] })),
      ]}
      value={sort ? sortTextOf(sort) : ''}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
    />
  );
}
