/**
 * What Sluice has written into clients' files, so that it can be taken back. The original files are stored next to each
 * record, so that a person can restore them by hand.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { basename, join, resolve, sep } from 'node:path';
import { z } from 'zod';
import { writeFileDurably } from '../ground/files/durable-file.ts';

const appliedFileSchema = z.object({
  path: z.string(),
  before: z.string().nullable(),
  /** Permissions before; null if the file did not exist. */
  mode: z.number().nullable(),
  applied: z.string(),
  /** The topmost folder that had to be created; null if none. */
  madeFolder: z.string().nullable(),
});

const appliedSchema = z.object({
  client: z.string(),
  appliedAt: z.number(),
  keyId: z.string(),
  model: z.string(),
  files: z.array(appliedFileSchema),
  /** The file in which the client finds the key; null if there is none. */
  keyFile: z.string().nullable().default(null),
});

export type AppliedFile = z.infer<typeof appliedFileSchema>;
export type AppliedRecord = z.infer<typeof appliedSchema>;

export interface AppliedStore {
  read(client: string): Promise<AppliedRecord | null>;
  /** Where the client's key would be kept; null if nothing is kept on disk. */
  keyFile(client: string): Promise<string | null>;
  /** `secret`: for the record's file, if it has one. */
  write(record: AppliedRecord, secret?: string): Promise<void>;
  remove(client: string): Promise<void>;
}

/** Beside the backups of a client's files, none of which has this name, and gone with them. */
const keyFileName = 'sluice-key';

/**
 * `dataFolder`: null to keep the records in memory. Each home folder has records of its own: one data folder may be used
 * with several, such as those of a container and of its host.
 */
export function createAppliedStore(dataFolder: string | null, home: string): AppliedStore {
  return dataFolder === null ? storeInMemory() : storeInFolder(join(dataFolder, 'connected'), home);
}

function storeInMemory(): AppliedStore {
  const records = new Map<string, AppliedRecord>();
  return {
    read: async (client) => records.get(client) ?? null,
    keyFile: async () => null,
    write: async (record) => void records.set(record.client, record),
    remove: async (client) => void records.delete(client),
  };
}

function storeInFolder(folder: string, home: string): AppliedStore {
  /** The first home has the client's own name, others have theirs appended. */
  const nameOf = async (client: string): Promise<string> => {
    const top = await realpath(home).catch(() => home);
    const own = `${client}-${createHash('sha256').update(top).digest('hex').slice(0, 16)}`;
    if (await readRecord(folder, own)) return own;
    const first = await readRecord(folder, client);
    return first?.files.every(({ path }) => path.startsWith(top + sep)) === false ? own : client;
  };
  const recordAt = (name: string) => join(folder, `${name}.json`);
  const keyFile = async (client: string) => resolve(folder, await nameOf(client), keyFileName);
  return {
    keyFile,
    read: async (client) => readRecord(folder, await nameOf(client)),
    async write(record, secret) {
      const name = await nameOf(record.client);
      const backups = join(folder, name);
      await mkdir(backups, { recursive: true, mode: 0o700 });
      for (const { path, before } of record.files) {
        if (before !== null) await writeFileDurably(join(backups, basename(path)), before);
      }
      await writeFileDurably(recordAt(name), JSON.stringify(record));
      if (record.keyFile === null) await rm(join(backups, keyFileName), { force: true });
      else if (secret !== undefined) await writeFileDurably(record.keyFile, secret);
    },
    async remove(client) {
      const name = await nameOf(client);
      await rm(recordAt(name), { force: true });
      await rm(join(folder, name), { recursive: true, force: true });
    },
  };
}

/**
 * Brings the files with keys in line with the keys: `secretOf` resolves with what a client is to present now that it has
 * presented `held`, or with null if the key is gone, and its file with it.
 */
export async function renewKeyFiles(
  dataFolder: string,
  secretOf: (keyId: string, held: string) => Promise<string | null>,
): Promise<void> {
  const folder = join(dataFolder, 'connected');
  const names = await readdir(folder).catch((): string[] => []);
  for (const name of names.filter((each) => each.endsWith('.json'))) {
    const record = await readRecord(folder, name.slice(0, -'.json'.length));
    const { keyFile = null, keyId = '' } = record ?? {};
    const held = keyFile === null ? null : await readFile(keyFile, 'utf8').catch(() => null);
    if (keyFile === null || held === null) continue;
    const secret = await secretOf(keyId, held);
    if (secret === null) await rm(keyFile, { force: true });
    else if (secret !== held) await writeFileDurably(keyFile, secret);
  }
}

async function readRecord(folder: string, name: string): Promise<AppliedRecord | null> {
  const names = await readdir(folder).catch((): string[] => []);
  if (!names.includes(`${name}.json`)) return null;
  return appliedSchema.parse(JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8')));
}
