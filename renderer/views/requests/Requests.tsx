/** The list of requests, live and as far back as the ledger goes, and the details of one. Knows no provider. */
import { CloseButton, Group } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconKeyOff } from '@tabler/icons-react';
import { useEffect, useId, useMemo, useRef, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import type { RefusalView } from '../../../server/contract/request-views.ts';
import { Screen } from '../../components/layout/Screen.tsx';
import { useIsFolded } from '../../components/selects/FilterFold.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { describeRefusal, fixOfRefusal } from '../../state/requests/failures.ts';
import { filterOf, hrefOf, isLive, type ShownFilter, searchOf } from '../../state/requests/request-filter.ts';
import { useRights } from '../../state/rights/use-rights.ts';
import { createSessionValue, useSessionValue } from '../../state/window/session-value.ts';
import { CaptureControl } from './CaptureControl.tsx';
import { RequestPanel } from './detail/RequestPanel.tsx';
import { usePicked } from './diff/picked.ts';
import { PickBar, RequestDiff } from './diff/RequestDiff.tsx';
import { ExportMenu, RequestFilters } from './filters/RequestFilters.tsx';
import { ColumnChoice } from './list/ColumnChoice.tsx';
import { useChosenColumns, usualColumns } from './list/columns.ts';
import { ListSummary, OutsideNote, RepairNote, SortChoice, useIsOutside } from './list/ListSummary.tsx';
import { RequestList } from './list/RequestList.tsx';
import { type ShownRequests, useRequests } from './list/use-requests.ts';
import classes from './Requests.module.css';

export function Requests() {
  const { requests: names } = useMessages();
  const [path, navigate] = useLocation();
  const search = useSearch();
  const filter = useMemo(() => filterOf(new URLSearchParams(search)), [search]);
  const isOpen = useControlState((state) => state.connection === 'open');
  const isFolded = useIsFolded();
  const [, , id] = path.split('/');
  const acts = (
    <Group gap="xs">
      {isOpen && isLive(filter) && <span className={classes.live}>{names.live}</span>}
      <CaptureControl />
      {!isFolded && <ExportMenu filter={filter} />}
    </Group>
  );
  return (
    <Screen name="requests" fills action={acts}>
      <RefusedNotice />
      <RequestFilters
        filter={filter}
        onChange={(changed) => {
          // Typing adds one entry to the history, not one per pause.
          const replace = changed.search !== undefined && filter.search !== undefined;
          navigate(`/requests${searchOf(changed)}`, { replace });
        }}
      />
      <RequestBrowser key={searchOf(filter)} filter={filter} openId={id ? decodeURIComponent(id) : null} />
    </Screen>
  );
}

interface RequestBrowserProps {
  /** Must not change while this is mounted. */
  filter: ShownFilter;
  /** The request whose details are open; null if none. */
  openId: string | null;
}

/** The requests that match the filter, with the details of one beside the list if there is room, otherwise over it. */
function RequestBrowser({ filter, openId }: RequestBrowserProps) {
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
  const isWidest = useMediaQuery('(min-width: 1600px)', true, { getInitialValueInEffect: false });
  const usual = usualColumns[isWidest ? 'widest' : mayBeBeside ? 'wide' : 'middle'];
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

/** The latest refusal when the notice was closed, in Unix milliseconds. A later one opens it again. */
const closedAt = createSessionValue<number>(0);

/**
 * Refused requests that appear in no list. Helps to find a program with a wrong key, or in a loop over a limit. One line, so that the
 * list keeps its place; the kinds besides the latest are unfolded. Usually renders nothing.
 */
function RefusedNotice() {
  const localization = useLocalization();
  const { refused } = localization.messages.requests;
  const refusals = useControlState((state) => state.views?.refusals ?? null) ?? [];
  const [seenUntil, setSeenUntil] = useSessionValue(closedAt);
  const titleId = useId();
  const [latest, ...others] = refusals.toSorted((one, other) => other.lastAt - one.lastAt);
  if (!latest || latest.lastAt <= seenUntil) return null;
  return (
    <section className={classes.refused} aria-labelledby={titleId}>
      <IconKeyOff className={classes.refusedIcon} size={18} aria-hidden />
      <h2 className={classes.refusedTitle} id={titleId}>
        {refused.title}
      </h2>
      <p className={classes.refusedLine}>
        <Refusal refusal={latest} />
      </p>
      {others.length > 0 && (
        <details className={classes.refusedOthers}>
          <summary>{refused.others(localization.formats.number(others.length))}</summary>
          <ul className={classes.refusedList}>
            {others.map((refusal) => (
              <li key={`${refusal.reason} ${refusal.keyId}`}>
                <Refusal refusal={refusal} />
              </li>
            ))}
          </ul>
        </details>
      )}
      <CloseButton
        size={24}
        iconSize={16}
        className={classes.refusedClose}
        aria-label={refused.close}
        title={refused.close}
        onClick={() => setSeenUntil(latest.lastAt)}
      />
    </section>
  );
}

function Refusal({ refusal }: { refusal: RefusalView }) {
  const localization = useLocalization();
  const { fixes } = localization.messages.requests;
  const { mayOpen } = useRights();
  const keyName = useControlState(({ views }) => views?.keys.find(({ id }) => id === refusal.keyId)?.name);
  const fix = fixOfRefusal(refusal);
  const text = describeRefusal(refusal, localization, keyName);
  return (
    <>
      <span title={text}>{text}</span>
      {fix && mayOpen(fix.href) && (
        <>
          {' · '}
          <Link className={classes.refusedFix} href={fix.href}>
            {fixes[fix.kind]}
          </Link>
        </>
      )}
    </>
  );
}
