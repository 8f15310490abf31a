import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useControlState } from '../../state/control/use-control.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { hrefOf, type ShownFilter, searchOf } from '../../state/requests/request-filter.ts';
import { RequestPanel } from './detail/RequestPanel.tsx';
import { usePicked } from './diff/picked.ts';
import { PickBar, RequestDiff } from './diff/RequestDiff.tsx';
import { ColumnChoice } from './list/ColumnChoice.tsx';
import { useChosenColumns, usualColumns } from './list/columns.ts';
import { ListSummary } from './list/ListSummary.tsx';
import { OutsideNote, useIsOutside } from './list/OutsideNote.tsx';
import { RepairNote } from './list/RepairNote.tsx';
import { RequestList } from './list/RequestList.tsx';
import { SortChoice } from './list/SortChoice.tsx';
import { type ShownRequests, useRequests } from './list/use-requests.ts';
import classes from './Requests.module.css';

interface RequestBrowserProps {
  /** Must not change while this is mounted. */
  filter: ShownFilter;
  /** The request whose details are open; null if none. */
  openId: string | null;
}

/** The requests that match the filter, with the details of one beside the list if there is room, otherwise over it. */
export function RequestBrowser({ filter, openId }: RequestBrowserProps) {
  const [, navigate] = useLocation();
  const [isHeld, setHeld] = useState(false);
  // While a request is open, the list must not move.
  const listed = useRequests(filter, isHeld || openId !== null);
  const pinnedIds = usePinnedIds();
  useReloadOnPin(filter, pinnedIds, listed.reload);
  const shown = useMemo(() => withoutUnpinned(listed, filter, pinnedIds), [listed, filter, pinnedIds]);
  const isOutside = useIsOutside(shown, openId);
  const isWide = useMediaQuery('(min-width: 1000px)', true, { getInitialValueInEffect: false });
  const mayBeBeside = useMediaQuery('(min-width: 1280px)', true, { getInitialValueInEffect: false });
  const isBeside = openId !== null && mayBeBeside;
  const isNarrow = !isWide || isBeside;
  const usual = mayBeBeside ? usualColumns.wide : usualColumns.middle;
  const isPicking = usePicked().ids.length > 0;
  const chosen = useChosenColumns();
  const columns = isNarrow ? usualColumns.narrow : (chosen ?? usual);
  const search = searchOf(filter);
  // Includes the open tab, so that the next request opens in the same one.
  const wholeSearch = useSearch();
  const lastOpenId = useRef(openId);
  if (openId !== null) lastOpenId.current = openId;
  const index = shown.requests?.findIndex(({ id }) => id === openId) ?? -1;
  const moveTo = (next: number) => {
    const id = index === -1 ? undefined : shown.requests?.[next]?.id;
    // A single history entry for all requests visited this way, so that Back leaves them.
    return id === undefined ? null : () => navigate(hrefOf(id, wholeSearch && `?${wholeSearch}`), { replace: true });
  };
  return (
    <>
      <div className={classes.summaryLine}>
        <ListSummary filter={filter} listed={shown.requests?.length ?? 0} sortedOf={shown.sortedOf}>
          {shown.repairedPercent !== null && (
            <RepairNote listedPercent={shown.repairedPercent} search={filter.search} onRepaired={shown.reload} />
          )}
          {isBeside && isOutside && <OutsideNote id={openId} filter={filter} />}
        </ListSummary>
        {isPicking && <PickBar />}
        {!isPicking && (isNarrow ? <SortChoice filter={filter} /> : <ColumnChoice columns={columns} />)}
      </div>
      <div className={`${classes.browser} ${isBeside ? classes.split : ''}`}>
        <RequestList
          shown={shown}
          filter={filter}
          openId={openId}
          anchorId={lastOpenId.current}
          columns={columns}
          pinnedIds={pinnedIds ?? noPins}
          isNarrow={isNarrow}
          onHold={setHeld}
        />
        {openId !== null && (
          <RequestPanel
            id={openId}
            onClose={() => navigate(`/requests${search}`, { replace: true })}
            onNext={moveTo(index + 1)}
            onPrevious={moveTo(index - 1)}
          />
        )}
      </div>
      <RequestDiff />
    </>
  );
}

const noPins: ReadonlySet<string> = new Set();

/** Which requests are pinned; null until known. */
function usePinnedIds(): ReadonlySet<string> | null {
  const { answer } = useQuery<'pins'>(
    { type: 'pins' },
    useControlState((state) => state.pinCount),
  );
  return useMemo(() => answer && new Set(answer.map(({ id }) => id)), [answer]);
}

/** A list of pinned requests gets those that are pinned elsewhere meanwhile. */
function useReloadOnPin({ pinned }: ShownFilter, pinnedIds: ReadonlySet<string> | null, reload: () => void): void {
  const before = useRef<ReadonlySet<string> | null>(null);
  useEffect(() => {
    const known = before.current;
    before.current = pinnedIds;
    if (pinned && known && pinnedIds && [...pinnedIds].some((id) => !known.has(id))) reload();
  }, [pinned, pinnedIds, reload]);
}

/** A list of pinned requests, without those that are so no longer. */
function withoutUnpinned(
  shown: ShownRequests,
  { pinned }: ShownFilter,
  pinnedIds: ReadonlySet<string> | null,
): ShownRequests {
  if (!pinned || !pinnedIds) return shown;
  return { ...shown, requests: shown.requests?.filter(({ id }) => pinnedIds.has(id)) ?? null };
}
