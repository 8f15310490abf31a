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
  /** The one that came last, once. */
  take(): OpenedPreset | null;
}

/** As many as the engine takes, and one more, so that it can tell a larger one. */
const longestFileBytes = 1024 * 1024 + 1;

/** @param arrived told of each, to show the window */
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
