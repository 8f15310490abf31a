/**
 * `secrets.in-keychain`: made before the first secret goes into the keychain, so that its existence says that there are
 * some. It holds no secret, only by which library each was written (since on some systems a library does not find what the
 * other one wrote), and which items of the other library are superseded:
 *
 *   { "format": "sluice-keychain", "version": 1,
 *     "written":    { "provider/main/c1": "@napi-rs/keyring" },
 *     "superseded": { "provider/main/c1": "keytar" } }
 *
 * Earlier versions wrote a sentence and used keytar only.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { GatewayError } from '../contract/errors.ts';
import { writeFileDurably } from '../ground/files/durable-file.ts';
import { describeFileProblem, systemErrorCode } from '../ground/files/regular-file.ts';
import { createSerialQueue } from '../ground/promises.ts';
import { type KeychainLibraryName, keychainLibraryNames } from './keychain-libraries.ts';

export const keychainMarkerName = 'secrets.in-keychain';

const libraries = z.record(z.string(), z.enum(keychainLibraryNames));
const recordSchema = z.object({
  format: z.literal('sluice-keychain'),
  version: z.literal(1),
  written: libraries,
  superseded: libraries,
});

/** Both by the name of the secret. */
export interface KeychainNotes {
  /** The library that wrote the secret as it is now; without an entry, it was keytar. */
  written: Map<string, KeychainLibraryName>;
  /** The library whose item is out of date, or deleted: it is never read, and removed at a later start. */
  superseded: Map<string, KeychainLibraryName>;
}

export interface KeychainRecord {
  /** Whether any secret was put into the keychain. */
  exists(): boolean;
  read(): Promise<KeychainNotes>;
  /** Creates the file if necessary. */
  change(edit: (notes: KeychainNotes) => void): Promise<void>;
}

export function openKeychainRecord(path: string): KeychainRecord {
  const inTurn = createSerialQueue();
  const read = async () => notesIn(await readText(path));
  return {
    exists: () => existsSync(path),
    read,
    change: (edit) =>
      inTurn(async () => {
        const before = await readText(path);
        const notes = notesIn(before);
        edit(notes);
        const text = textOf(notes);
        if (text !== before) await writeText(path, text);
      }),
  };
}

function notesIn(text: string | undefined): KeychainNotes {
  const { written, superseded } = parseRecord(text ?? '') ?? { written: {}, superseded: {} };
  return { written: new Map(Object.entries(written)), superseded: new Map(Object.entries(superseded)) };
}

/** Undefined for the sentence of earlier versions, and for a damaged file, which then is worth as much. */
function parseRecord(text: string): z.infer<typeof recordSchema> | undefined {
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function textOf({ written, superseded }: KeychainNotes): string {
  const record: z.infer<typeof recordSchema> = {
    format: 'sluice-keychain',
    version: 1,
    written: Object.fromEntries(written),
    superseded: Object.fromEntries(superseded),
  };
  return `${JSON.stringify(record, null, 2)}\n`;
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw new GatewayError('internal', `${path} cannot be read: ${describeFileProblem(error)}.`);
  }
}

async function writeText(path: string, text: string): Promise<void> {
  try {
    await writeFileDurably(path, text);
  } catch (error) {
    throw new GatewayError('internal', `${path} cannot be written: ${describeFileProblem(error)}. Nothing was stored.`);
  }
}
