import { Button, Menu } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, type MouseEvent, useCallback, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { nameOfClient } from '../../../../server/contract/known-clients.ts';
import { type FilterCondition, type FilterField, withCondition } from '../../../../server/contract/request-filter.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useNameOf } from '../../../state/control/use-found.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import type { LiveRequest } from '../../../state/requests/live-request.ts';
import { hrefOf, type ShownFilter, type SortBy, searchOf } from '../../../state/requests/request-filter.ts';
import { comparePicked, togglePick, usePicked } from '../diff/picked.ts';
import { useRowFocus } from '../keyboard/use-row-focus.ts';
import { type ColumnName, sortOfColumn, widthsOf } from './columns.ts';
import { RequestRow } from './RequestRow.tsx';
import classes from './RequestTable.module.css';
import { type ShownRequests, useFirstWords } from './use-requests.ts';

const rowHeights = { wide: 33, narrow: 55 };
/** The next page is loaded when fewer than this many rows are left. */
export const rowsAhead = 30;

interface RequestTableProps {
  shown: ShownRequests & { requests: readonly LiveRequest[] };
  filter: ShownFilter;
  openId: string | null;
  anchorId: string | null;
  columns: readonly ColumnName[];
  pinnedIds: ReadonlySet<string>;
  isNarrow: boolean;
  onHold(isHeld: boolean): void;
}

/** Renders only the visible rows. Only one of them is a tab stop; the arrow keys, J and K move to the others. */
export function RequestTable(props: RequestTableProps) {
  const { shown, filter, openId, anchorId, columns, pinnedIds, isNarrow, onHold } = props;
  const { requests, waiting, isLoading, problem, hasMore, loadMore, showWaiting } = shown;
  const { title } = useMessages().requests;
  const scroller = useRef<HTMLDivElement>(null);
  const [menu, setMenu] = useState<RowMenuPlace | null>(null);
  const providerName = useProviderName();
  const picked = usePicked();
  const rowHeight = isNarrow ? rowHeights.narrow : rowHeights.wide;
  const search = searchOf(filter);
  const openIndex = openId === null ? -1 : requests.findIndex(({ id }) => id === openId);
  const virtualizer = useVirtualizer({
    count: requests.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => requests[index]?.id ?? index,
    overscan: 6,
    useFlushSync: false,
  });
  const items = virtualizer.getVirtualItems();
  const hrefWith = useCallback((condition: FilterCondition) => listWith(filter, condition), [filter]);
  const firstWords = useFirstWords(items.flatMap(({ index }) => requests[index] ?? []));
  const focus = useRowFocus({
    ...{ requests, scroller, openIndex, anchorId },
    scrollTo: virtualizer.scrollToIndex,
    onPick: togglePick,
    onCompare: comparePicked,
  });
  const isNearEnd = (items.at(-1)?.index ?? 0) > requests.length - rowsAhead;
  useEffect(() => {
    if (isNearEnd && hasMore && !isLoading && !problem) loadMore();
  }, [isNearEnd, hasMore, isLoading, problem, loadMore]);
  const showNew = () => {
    showWaiting();
    scroller.current?.scrollTo({ top: 0 });
  };
  return (
    <div
      className={[
        classes.panel,
        isNarrow ? classes.narrow : classes.wide,
        picked.ids.length > 0 && classes.picking,
      ].join(' ')}
    >
      <section
        className={classes.scroller}
        ref={scroller}
        aria-label={title}
        onScroll={({ currentTarget }) => onHold(currentTarget.scrollTop > rowHeight)}
      >
        <table
          className={classes.table}
          style={isNarrow ? undefined : ({ '--columns': widthsOf(columns) } as CSSProperties)}
          aria-rowcount={hasMore ? -1 : requests.length + 1}
          onKeyDown={focus.onKeyDown}
        >
          <thead className={classes.head}>
            <ColumnHeads names={columns} filter={filter} isNarrow={isNarrow} />
          </thead>
          <tbody
            className={classes.inner}
            style={{ height: virtualizer.getTotalSize() }}
            // As X does.
            onClickCapture={(event) => {
              const id = event.shiftKey ? requestIdAt(event) : undefined;
              if (id === undefined) return;
              event.preventDefault();
              togglePick(id);
            }}
            onContextMenu={(event) => {
              const place = rowMenuPlaceOf(event, requests);
              if (!place) return;
              event.preventDefault();
              setMenu(place);
            }}
          >
            {items.map(({ index, key, start }) => {
              const request = requests[index];
              if (!request) return null;
              const { provider } = request;
              return (
                <RequestRow
                  key={key}
                  request={request}
                  columns={columns}
                  firstWords={firstWords.get(request.id) ?? ''}
                  providerName={provider === null ? null : providerName(provider)}
                  top={start}
                  position={index + 2}
                  href={hrefOf(request.id, search)}
                  hrefWith={isNarrow ? null : hrefWith}
                  isOpen={index === openIndex}
                  isTabStop={request.id === focus.tabStop}
                  isPinned={pinnedIds.has(request.id)}
                  isPicked={picked.ids.includes(request.id)}
                />
              );
            })}
          </tbody>
        </table>
      </section>
      {menu && <RowMenu place={menu} filter={filter} onClose={() => setMenu(null)} />}
      <NewRequestsButton waiting={waiting} onShow={showNew} />
      <ListFoot isLoading={isLoading} problem={problem} />
    </div>
  );
}

/** The request of the row of an event; undefined outside of rows. */
function requestIdAt({ target }: MouseEvent): string | undefined {
  if (!(target instanceof Element)) return undefined;
  return target.closest('tr')?.querySelector<HTMLElement>('a[data-request]')?.dataset.request;
}

/** Null outside of rows, and where text is selected, whose own menu is wanted. */
function rowMenuPlaceOf(event: MouseEvent, requests: readonly LiveRequest[]): RowMenuPlace | null {
  if (getSelection()?.isCollapsed === false) return null;
  const id = requestIdAt(event);
  const request = requests.find((each) => each.id === id);
  return request ? { request, x: event.clientX, y: event.clientY } : null;
}

function NewRequestsButton({ waiting, onShow }: { waiting: number; onShow(): void }) {
  const { messages, formats } = useLocalization();
  if (waiting === 0) return null;
  return (
    <Button
      className={classes.newOnes}
      size="compact-sm"
      radius="xl"
      leftSection={<IconArrowUp size={14} />}
      onClick={onShow}
    >
      {messages.requests.newOnes(waiting, formats.number(waiting))}
    </Button>
  );
}

/** The heading that was pressed. A new order mounts a new list, in which this heading gets the focus back. */
let pressed: ColumnName | null = null;

interface ColumnHeadsProps {
  names: readonly ColumnName[];
  filter: ShownFilter;
  /** Rows then have two lines that do not align with columns, so the headings are for screen readers only. */
  isNarrow: boolean;
}

/** The column headings. Those of sortable columns are buttons; the order is part of the address. */
function ColumnHeads({ names, filter, isNarrow }: ColumnHeadsProps) {
  const { columns } = useMessages().requests;
  const isSortedBy = (by: SortBy | 'time' | undefined) => by !== undefined && by === (filter.sort?.by ?? 'time');
  const direction = filter.sort?.isAscending ? 'ascending' : 'descending';
  return (
    <tr className={classes.row}>
      {names.map((name) => {
        const by = sortOfColumn[name];
        return (
          <th key={name} className={classes[name]} aria-sort={isSortedBy(by) ? direction : undefined}>
            {by === undefined || isNarrow ? columns[name] : <SortHead name={name} by={by} filter={filter} />}
          </th>
        );
      })}
    </tr>
  );
}

interface SortHeadProps {
  name: ColumnName;
  by: SortBy | 'time';
  filter: ShownFilter;
}

/** Sorts by highest first; pressed again, by lowest first. */
function SortHead({ name, by, filter }: SortHeadProps) {
  const { columns } = useMessages().requests;
  const [, navigate] = useLocation();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (pressed !== name) return;
    pressed = null;
    // Does not take the focus if the person has moved it meanwhile.
    if (document.activeElement === document.body) button.current?.focus();
  }, [name]);
  const { sort, ...others } = filter;
  const isSorted = by === (sort?.by ?? 'time');
  const choose = () => {
    const isAscending = isSorted && !sort?.isAscending;
    const next = searchOf(by === 'time' ? others : { ...others, sort: { by, isAscending } });
    if (next === searchOf(filter)) return;
    pressed = name;
    navigate(`/requests${next}`);
  };
  const Arrow = sort?.isAscending ? IconArrowUp : IconArrowDown;
  return (
    <button ref={button} type="button" className={classes.sortHead} onClick={choose}>
      {columns[name]}
      {isSorted && <Arrow className={classes.sortArrow} size={12} aria-hidden />}
    </button>
  );
}

/** Address of the list with one more condition. */
const listWith = (filter: ShownFilter, condition: FilterCondition) =>
  `/requests${searchOf(withCondition(filter, condition) ?? filter)}`;

/** Where the menu of a row was asked for, by the pointer or the keyboard. */
interface RowMenuPlace {
  request: LiveRequest;
  /** In pixels of the window. */
  x: number;
  y: number;
}

interface RowMenuProps {
  place: RowMenuPlace;
  filter: ShownFilter;
  onClose(): void;
}

/** Selects the row to be compared, and what it can be filtered by: each of its cells that names something. */
function RowMenu({ place: { request, x, y }, filter, onClose }: RowMenuProps) {
  const { requests: names } = useMessages();
  const [, navigate] = useLocation();
  const providerName = useProviderName();
  const { ids } = usePicked();
  const keyName = useNameOf('key', request.keyId);
  const groupName = useNameOf('group', request.groupId);
  const cells: [field: FilterField, label: string, value: string | null, name: string | null][] = [
    ['model', names.filters.model, request.modelAsked ?? request.modelServed, null],
    ['provider', names.filters.provider, request.provider, request.provider && providerName(request.provider)],
    ['key', names.filters.keyId, request.keyId, keyName],
    ['group', names.filters.groupId, request.groupId, groupName],
    ['status', names.filters.status, request.status === null ? null : String(request.status), null],
    ['client', names.filters.client, request.client && nameOfClient(request.client), null],
  ];
  const choose = (condition: FilterCondition) => navigate(listWith(filter, condition));
  return (
    <Menu
      opened
      onClose={onClose}
      position="bottom-start"
      returnFocus
      withInitialFocusPlaceholder={false}
      withinPortal
      portalProps={inMain}
    >
      <Menu.Target>
        <button
          type="button"
          className={classes.menuPlace}
          style={{ left: x, top: y }}
          tabIndex={-1}
          aria-label={names.filterByRow}
        />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => togglePick(request.id)}>
          {ids.includes(request.id) ? names.picks.unpick : names.picks.pick}
        </Menu.Item>
        <Menu.Divider />
        {cells.map(
          ([field, label, value, name]) =>
            value !== null && (
              <Menu.Item key={field} onClick={() => choose({ field, value })}>
                {names.onlyCondition(`${label}: ${name ?? value}`)}
              </Menu.Item>
            ),
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Puts the menu inside a landmark of the page. */
const inMain = { target: 'main' };

/** Shown below the list while older requests are loading, or if loading them failed. */
export function ListFoot({ isLoading, problem }: Pick<ShownRequests, 'isLoading' | 'problem'>) {
  const { requests: names } = useMessages();
  if (problem) {
    return (
      <div className={classes.foot}>
        <CommandProblem problem={problem} />
      </div>
    );
  }
  return isLoading && <div className={classes.foot}>{names.loadingOlder}</div>;
}
