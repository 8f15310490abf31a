/**
 * Holds the link or file that the operating system opened with Sluice, until the window takes it. Nothing is acted upon
 * here: the window shows what it is, and the person confirms every change. The text of a preset never appears in a URL or
 * in the history.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import type { CassetteContents } from '../server/contract/cassette.ts';
import type { Opened } from '../server/contract/ipc.ts';
import { readSluiceLink } from '../server/contract/sluice-link.ts';

export interface OpenedInbox {
  openLink(link: string): void;
  openFile(path: string): void;
  /** Returns and removes the latest; null if there is none. Keeps it if it cannot be read because the gateway is off. */
  take(): Promise<Opened | null>;
}

interface OpenedInboxPorts {
  /** Shows the window, at this screen if given. */
  show(path?: string): void;
  /** Tells the window's page that there is something to take. */
  announce(): void;
  /** Resolves with null if the path is no cassette. */
  readCassette(path: string): Promise<CassetteContents | null>;
}

/** One byte more than the engine accepts, so that it recognises a file that is too large. */
const longestFileBytes = 1024 * 1024 + 1;

export function createOpenedInbox({ show, announce, readCassette }: OpenedInboxPorts): OpenedInbox {
  let pending: Opened | { path: string } | null = null;
  const receive = (next: NonNullable<typeof pending>) => {
    pending = next;
    show();
    announce();
  };
  return {
    openLink(link) {
      const read = readSluiceLink(link);
      if (read.kind === 'screen') show(read.path);
      else receive(read.kind === 'preset' ? { kind: 'text', fileName: null, text: read.text } : read);
    },
    openFile: (path) => receive({ path }),
    async take() {
      const taken = pending;
      pending = null;
      if (taken === null || 'kind' in taken) return taken;
      const { path } = taken;
      try {
        const cassette = await readCassette(path);
        return cassette ? { kind: 'cassette', cassette } : textOf(path);
      } catch (error) {
        pending ??= taken;
        throw error;
      }
    },
  };
}

function textOf(path: string): Opened {
  return { kind: 'text', fileName: basename(path), text: readText(path) };
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
