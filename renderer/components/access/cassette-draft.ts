import type { CassetteChoice, CassetteMode, KeyCassette } from '../../../server/contract/cassette.ts';

/** Cassette settings as typed. `group`: inherited from the key's group. */
export interface CassetteDraft {
  mode: CassetteMode | 'group' | 'off';
  /** Kept while the mode is off. */
  folder: string;
}

/** `without`: the mode if nothing is saved. */
export function cassetteDraftOf(saved: KeyCassette | null, without: 'group' | 'off'): CassetteDraft {
  if (saved === null) return { mode: without, folder: '' };
  return saved === 'off' ? { mode: 'off', folder: '' } : saved;
}

/** Null if off or inherited. */
export function cassetteOf({ mode, folder }: CassetteDraft): CassetteChoice | null {
  return mode === 'off' || mode === 'group' ? null : { mode, folder: folder.trim() };
}

/** In the form in which a key stores it. */
export function keyCassetteOf(draft: CassetteDraft): KeyCassette | null {
  return draft.mode === 'off' ? 'off' : cassetteOf(draft);
}
