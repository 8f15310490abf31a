import { Button } from '@mantine/core';
import { IconArrowUp } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, type MouseEvent, useEffect, useRef, useState } from 'react';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import type { LiveRequest } from '../../../state/requests/live-request.ts';
import { hrefOf, type ShownFilter, searchOf } from '../../../state/requests/request-filter.ts';
import { comparePicked, togglePick, usePicked } from '../diff/picked.ts';
import { useRowFocus } from '../keyboard/use-row-focus.ts';
import { ColumnHeads } from './ColumnHeads.tsx';
import { type ColumnName, widthsOf } from './columns.ts';
import { ListFoot } from './ListFoot.tsx';
import { RequestRow } from './RequestRow.tsx';
import classes from './RequestTable.module.css';
import { RowMenu, type RowMenuPlace } from './RowMenu.tsx';
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
