import type { CassetteChoice, CassetteMode, KeyCassette } from '../../server/contract/cassette.ts';

/** What is typed of a cassette. `group`: as the key's group has it. */
export interface CassetteDraft {
  mode: CassetteMode | 'group' | 'off';
  /** Kept while it is off. */
  folder: string;
}

/** `without`: what it means if there is nothing. */
export function cassetteDraftOf(saved: KeyCassette | null, without: 'group' | 'off'): CassetteDraft {
  if (saved === null) return { mode: without, folder: '' };
  return saved === 'off' ? { mode: 'off', folder: '' } : saved;
}

/** Null if it is off. */
export function cassetteOf({ mode, folder }: CassetteDraft): CassetteChoice | null {
  return mode === 'off' || mode === 'group' ? null : { mode, folder: folder.trim() };
}

/** As a key has it. */
export function keyCassetteOf(draft: CassetteDraft): KeyCassette | null {
  return draft.mode === 'off' ? 'off' : cassetteOf(draft);
}
