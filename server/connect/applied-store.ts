/**
 * What Sluice has written into clients' files, so that it can be taken back. The original files are stored next to each
 * record, so that a person can restore them by hand.
 */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
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

/** `dataFolder`: null to keep the records in memory. */
export function createAppliedStore(dataFolder: string | null): AppliedStore {
  return dataFolder === null ? storeInMemory() : storeInFolder(join(dataFolder, 'connected'));
}

function storeInMemory(): AppliedStore {
  const records = new Map<string, AppliedRecord>();
  return {
    read: async (client) => records.get(client) ?? null,
    write: async (record) => void records.set(record.client, record),
    remove: async (client) => void records.delete(client),
  };
}

function storeInFolder(folder: string): AppliedStore {
  const recordOf = (client: string) => join(folder, `${client}.json`);
  const backupsOf = (client: string) => join(folder, client);
  return {
    async read(client) {
      const names = await readdir(folder).catch((): string[] => []);
      if (!names.includes(`${client}.json`)) return null;
      return appliedSchema.parse(JSON.parse(await readFile(recordOf(client), 'utf8')));
    },
    async write(record) {
      const backups = backupsOf(record.client);
      await mkdir(backups, { recursive: true, mode: 0o700 });
      for (const { path, before } of record.files) {
        if (before !== null) await writeFileDurably(join(backups, basename(path)), before);
      }
      await writeFileDurably(recordOf(record.client), JSON.stringify(record));
    },
    async remove(client) {
      await rm(recordOf(client), { force: true });
      await rm(backupsOf(client), { recursive: true, force: true });
    },
  };
}
