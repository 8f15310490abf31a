import { Button } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { fitsFilter } from '../../../../server/contract/request-filter.ts';
import type { RequestView } from '../../../../server/contract/request-views.ts';
import { useMessages } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import { hrefOf, isLive, queryOf, type ShownFilter, searchOf } from '../../../state/requests/request-filter.ts';
import type { ShownRequests } from './use-requests.ts';

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
