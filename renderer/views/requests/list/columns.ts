/** The columns of the list of requests: which are shown, in which order, and how wide. */
import { useSyncExternalStore } from 'react';
import type { SortBy } from '../../../state/requests/request-filter.ts';

/** All of them, in their usual order. */
export const columnNames = [
  'status',
  'time',
  'request',
  'model',
  'client',
  'provider',
  'key',
  'group',
  'firstByte',
  'duration',
  'rate',
  'tokens',
  'cost',
] as const;
export type ColumnName = (typeof columnNames)[number];

/** Contains the link to the request, so it is always shown. */
export const fixedColumn: ColumnName = 'request';

/** Of rows with two lines, in the order in which they are read out. */
const narrow: readonly ColumnName[] = ['status', 'model', 'duration', 'time', 'request', 'cost'];
const middle: readonly ColumnName[] = ['status', 'time', 'request', 'model', 'client', 'duration', 'cost'];
const wide: readonly ColumnName[] = [...middle, 'provider', 'tokens'];
const widest: readonly ColumnName[] = [...wide, 'key', 'firstByte', 'rate'];
const inOrder = (names: readonly ColumnName[]) => columnNames.filter((name) => names.includes(name));

/** Where nothing was chosen: as many as leave the title its room. */
export const usualColumns = { widest: inOrder(widest), wide: inOrder(wide), middle: inOrder(middle), narrow };

/** Time is the default order: newest first. */
export const sortOfColumn: Partial<Record<ColumnName, SortBy | 'time'>> = {
  time: 'time',
  firstByte: 'first-byte',
  duration: 'duration',
  tokens: 'tokens',
  cost: 'cost',
};

/** Names share what figures leave; their shares are those of what they usually contain. What a request is about comes first. */
const widths: Record<ColumnName, string> = {
  status: '104px',
  time: '104px',
  request: 'minmax(140px, 300fr)',
  model: 'minmax(56px, 112fr)',
  client: 'minmax(56px, 100fr)',
  provider: 'minmax(56px, 118fr)',
  key: 'minmax(56px, 86fr)',
  group: 'minmax(56px, 86fr)',
  firstByte: '62px',
  duration: '62px',
  rate: '42px',
  tokens: '60px',
  cost: '72px',
};

/** For `grid-template-columns`. */
export const widthsOf = (columns: readonly ColumnName[]) => columns.map((name) => widths[name]).join(' ');

const storageName = 'sluice.request-columns';
const listeners = new Set<() => void>();
let chosen = read();

/** The chosen columns, remembered in the browser's storage; null: the usual ones. */
export function useChosenColumns(): readonly ColumnName[] | null {
  return useSyncExternalStore(subscribe, () => chosen);
}

/** Null for the usual ones. If storage is unavailable, the choice lasts as long as the page. */
export function chooseColumns(columns: readonly ColumnName[] | null): void {
  chosen = columns;
  for (const listener of listeners) listener();
  try {
    if (columns === null) localStorage.removeItem(storageName);
    else localStorage.setItem(storageName, JSON.stringify(columns));
  } catch {
    // Storage may be unavailable in a private window.
  }
}

/** What is stored, without what is no column; null if nothing is. */
export function columnsIn(stored: unknown): readonly ColumnName[] | null {
  if (!Array.isArray(stored)) return null;
  const known = [...new Set(stored)].filter((name): name is ColumnName => columnNames.includes(name));
  return known.includes(fixedColumn) ? known : null;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function read(): readonly ColumnName[] | null {
  try {
    return columnsIn(JSON.parse(localStorage.getItem(storageName) ?? 'null'));
  } catch {
    return null;
  }
}
