/**
 * Holds a team preset that was opened as a link or file until the window takes it. The main process does not interpret the
 * text: the engine checks it, and the user confirms every import. The text never appears in a URL or in the history.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import type { OpenedPreset } from '../server/contract/ipc.ts';
import { readPresetLink } from '../server/contract/preset-link.ts';

export interface TeamPresetInbox {
  readonly isEmpty: boolean;
  openLink(link: string): void;
  openFile(path: string): void;
  /** Returns and removes the latest preset. */
  take(): OpenedPreset | null;
}

/** One byte more than the engine accepts, so that it recognises a file that is too large. */
const longestFileBytes = 1024 * 1024 + 1;

/** @param onArrival called for each preset, to show the window */
export function createTeamPresetInbox(onArrival: () => void): TeamPresetInbox {
  let pending: OpenedPreset | null = null;
  const receive = (next: OpenedPreset) => {
    pending = next;
    onArrival();
  };
  return {
    get isEmpty() {
      return pending === null;
    },
    openLink: (link) => receive({ fileName: null, text: readPresetLink(link) }),
    openFile: (path) => receive({ fileName: basename(path), text: readText(path) }),
    take() {
      const preset = pending;
      pending = null;
      return preset;
    },
  };
}

function readText(path: string): string | null {
  try {
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(longestFileBytes);
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, longestFileBytes, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}
