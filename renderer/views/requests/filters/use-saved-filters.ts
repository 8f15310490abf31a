import { useState } from 'react';

interface SavedFilter {
  name: string;
  /** As in the address: `?outcome=failed`. */
  search: string;
}

const storageName = 'sluice.request-filters';
const mostSaved = 30;

/** Named filters, kept in the browser's storage. If storage is unavailable, they last as long as the page. */
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
    save: (name: string, search: string) => change([...withoutName(name), { name, search }].slice(-mostSaved)),
    forget: (name: string) => change(withoutName(name)),
  };
}

function read(): SavedFilter[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageName) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isSaved) : [];
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
