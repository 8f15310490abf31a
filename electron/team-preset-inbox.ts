/**
 * Team presets that the system hands over, by a link or a file, until the window takes them. Main only holds the text: what
 * is in it the engine checks, and nothing happens without the person's word. Nothing of it gets into an address or a history.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import type { OpenedPreset } from '../server/contract/ipc.ts';
import { readPresetLink } from '../server/contract/preset-link.ts';

export interface TeamPresetInbox {
  readonly isEmpty: boolean;
  openLink(link: string): void;
  openFile(path: string): void;
  /** Returns the latest one, once. */
  take(): OpenedPreset | null;
}

/** One byte more than the engine accepts, so that it can recognise a file that is too large. */
const longestFileBytes = 1024 * 1024 + 1;

/** @param arrived called for each, to show the window */
export function createTeamPresetInbox(arrived: () => void): TeamPresetInbox {
  let opened: OpenedPreset | null = null;
  const put = (next: OpenedPreset) => {
    opened = next;
    arrived();
  };
  return {
    get isEmpty() {
      return opened === null;
    },
    openLink: (link) => put({ fileName: null, text: readPresetLink(link) }),
    openFile: (path) => put({ fileName: basename(path), text: readText(path) }),
    take() {
      const taken = opened;
      opened = null;
      return taken;
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
