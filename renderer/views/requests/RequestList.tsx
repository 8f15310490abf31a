import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowUp } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import { FirstCall } from '../../components/FirstCall.tsx';
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import type { LiveRequest } from '../../state/live-request.ts';
import { useControlState } from '../../state/use-control.ts';
import { useKeyChoice } from '../../state/use-key-choice.ts';
import { useProviderName } from '../providers/use-provider-name.ts';
import { RequestRow } from './RequestRow.tsx';
import classes from './RequestTable.module.css';
import { type ShownFilter, searchOf } from './request-filter.ts';
import { type ShownRequests, useRequests } from './use-requests.ts';

const rowHeights = { wide: 33, narrow: 55 };
/** So many rows before the end, the next page is asked for. */
const rowsAhead = 30;

/** The requests that fit the filter. New ones come in at the top, but push nothing away while a person reads further down. */
export function RequestList({ filter }: { filter: ShownFilter }) {
  const [isHeld, setHeld] = useState(false);
  const isWide = useMediaQuery('(min-width: 1000px)', true, { getInitialValueInEffect: false });
  const shown = useRequests(filter, isHeld);
  const { requests, hasMore, isLoading, problem, loadMore } = shown;
  const isShort = requests !== null && requests.length < rowsAhead && hasMore && !problem;
  useEffect(() => {
    if (isShort && !isLoading) loadMore();
  }, [isShort, isLoading, loadMore]);
  if (!requests)
    return (
      <Panel>
        <ListSkeleton rows={5} rowHeight={36} />
      </Panel>
    );
  if (requests.length === 0) {
    return (
      <Panel>
        {isShort ? <ListSkeleton rows={5} rowHeight={36} /> : <Nothing filter={filter} problem={problem} />}
      </Panel>
    );
  }
  const size = isWide ? rowHeights.wide : rowHeights.narrow;
  // Rows of another height are another list.
  return (
    <RequestTable
      key={size}
      rowHeight={size}
      shown={{ ...shown, requests }}
      search={searchOf(filter)}
      onHold={setHeld}
    />
  );
}

function Panel({ children }: { children: React.ReactNode }) {
  return <div className={classes.panel}>{children}</div>;
}

interface RequestTableProps {
  shown: ShownRequests & { requests: readonly LiveRequest[] };
  search: string;
  /** In pixels. */
  rowHeight: number;
  onHold(isHeld: boolean): void;
}

function RequestTable({ shown, search, rowHeight, onHold }: RequestTableProps) {
  const { requests, waiting, isLoading, problem, hasMore, loadMore } = shown;
  const { columns, title } = useMessages().requests;
  const scroller = useRef<HTMLDivElement>(null);
  const keyNames = useKeyNames();
  const providerName = useProviderName();
  const virtualizer = useVirtualizer({
    count: requests.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => requests[index]?.id ?? index,
    overscan: 6,
    useFlushSync: false,
  });
  const items = virtualizer.getVirtualItems();
  const isNearEnd = (items.at(-1)?.index ?? 0) > requests.length - rowsAhead;
  useEffect(() => {
    if (isNearEnd && hasMore && !isLoading && !problem) loadMore();
  }, [isNearEnd, hasMore, isLoading, problem, loadMore]);
  return (
    <div className={classes.panel}>
      <section
        className={classes.scroller}
        ref={scroller}
        aria-label={title}
        onScroll={({ currentTarget }) => onHold(currentTarget.scrollTop > rowHeight)}
      >
        <table className={classes.table} aria-rowcount={hasMore ? -1 : requests.length + 1}>
          <thead className={classes.head}>
            <tr className={classes.row}>
              {columnNames.map((name) => (
                <th key={name} className={classes[name]}>
                  {columns[name]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className={classes.inner} style={{ height: virtualizer.getTotalSize() }}>
            {items.map(({ index, key, start }) => {
              const request = requests[index];
              if (!request) return null;
              const { keyId, provider } = request;
              return (
                <RequestRow
                  key={key}
                  request={request}
                  keyName={keyId === null ? null : (keyNames.get(keyId) ?? keyId)}
                  providerName={provider === null ? null : providerName(provider)}
                  top={start}
                  position={index + 2}
                  href={`/requests/${encodeURIComponent(request.id)}${search}`}
                />
              );
            })}
          </tbody>
        </table>
      </section>
      <NewOnes waiting={waiting} onShow={() => scroller.current?.scrollTo({ top: 0 })} />
      <Foot isLoading={isLoading} problem={problem} />
    </div>
  );
}

function NewOnes({ waiting, onShow }: { waiting: number; onShow(): void }) {
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

function Foot({ isLoading, problem }: Pick<ShownRequests, 'isLoading' | 'problem'>) {
  const { requests: names } = useMessages();
  if (problem)
    return (
      <div className={classes.foot}>
        <CommandProblem problem={problem} />
      </div>
    );
  return isLoading && <div className={classes.foot}>{names.loadingOlder}</div>;
}

const columnNames = ['status', 'time', 'request', 'model', 'provider', 'key', 'duration', 'tokens', 'cost'] as const;

function useKeyNames(): ReadonlyMap<string, string> {
  const keys = useControlState((state) => state.views?.keys ?? null);
  return useMemo(() => new Map(keys?.map(({ id, name }) => [id, name ?? id])), [keys]);
}

function Nothing({ filter, problem }: { filter: ShownFilter; problem: ShownRequests['problem'] }) {
  const { requests: names } = useMessages();
  const choice = useKeyChoice();
  if (problem) return <Foot isLoading={false} problem={problem} />;
  if (searchOf(filter) !== '') return <EmptyNote title={names.noneFit} next={names.noneFitNext} />;
  return (
    <EmptyNote title={names.emptyTitle} next={names.emptyNext}>
      <FirstCall choice={choice} />
    </EmptyNote>
  );
}
