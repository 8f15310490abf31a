import { useState } from 'react';
import { type ColumnName, columnsIn } from '../list/columns.ts';

export interface SavedFilter {
  name: string;
  /** As in the address: `?outcome=failed`. */
  search: string;
  /** Null: the usual ones. Absent: it leaves them as they are, as an earlier version saved it. */
  columns?: readonly ColumnName[] | null;
}

const storageName = 'sluice.request-filters';
const mostSaved = 30;

/** Named filters, each with the order and the columns of its list, kept in the browser's storage. If storage is unavailable, they last as long as the page. */
export function useSavedFilters() {
  const [saved, setSaved] = useState(read);
  const change = (next: SavedFilter[]) => {
    setSaved(next);
    write(next);
  };
  const withoutName = (name: string) => saved.filter((each) => each.name !== name);
  return {
    saved,
    /** Replaces a filter of the same name. */
    save: (filter: SavedFilter) => change([...withoutName(filter.name), filter].slice(-mostSaved)),
    forget: (name: string) => change(withoutName(name)),
  };
}

function read(): SavedFilter[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageName) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isSaved).map(withKnownColumns) : [];
  } catch {
    return [];
  }
}

function write(saved: readonly SavedFilter[]): void {
  try {
    localStorage.setItem(storageName, JSON.stringify(saved));
  } catch {
    // Storage may be unavailable in a private window.
  }
}

function isSaved(value: unknown): value is SavedFilter {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('search' in value)) return false;
  return typeof value.name === 'string' && typeof value.search === 'string';
}

function withKnownColumns({ name, search, columns }: SavedFilter): SavedFilter {
  return { name, search, ...(columns !== undefined && { columns: columnsIn(columns) }) };
}
