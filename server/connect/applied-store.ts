/**
 * What Sluice has written into clients' files, so that it can be taken back. The original files are stored next to each
 * record, so that a person can restore them by hand.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
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
});

export type AppliedFile = z.infer<typeof appliedFileSchema>;
export type AppliedRecord = z.infer<typeof appliedSchema>;

export interface AppliedStore {
  read(client: string): Promise<AppliedRecord | null>;
  write(record: AppliedRecord): Promise<void>;
  remove(client: string): Promise<void>;
}

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
  return {
    read: async (client) => readRecord(folder, await nameOf(client)),
    async write(record) {
      const name = await nameOf(record.client);
      const backups = join(folder, name);
      await mkdir(backups, { recursive: true, mode: 0o700 });
      for (const { path, before } of record.files) {
        if (before !== null) await writeFileDurably(join(backups, basename(path)), before);
      }
      await writeFileDurably(recordAt(name), JSON.stringify(record));
    },
    async remove(client) {
      const name = await nameOf(client);
      await rm(recordAt(name), { force: true });
      await rm(join(folder, name), { recursive: true, force: true });
    },
  };
}

async function readRecord(folder: string, name: string): Promise<AppliedRecord | null> {
  const names = await readdir(folder).catch((): string[] => []);
  if (!names.includes(`${name}.json`)) return null;
  return appliedSchema.parse(JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8')));
}
