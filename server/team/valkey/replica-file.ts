import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileDurably } from '../../ground/files/durable-file.ts';

const replicaSchema = z.object({ id: z.string().min(1).max(64), replicas: z.number().int().positive() });

/** The identity of a replica, kept over restarts. */
interface Replica {
  /** Identifies its data folder, and therefore its ledger. */
  id: string;
  /** The last known number of replicas, including this one. */
  replicas: number;
}

const fileName = 'replica.json';

/** Returns a new replica if the file is missing or cannot be used. `dataDir` null: in memory. */
export async function readReplica(dataDir: string | null): Promise<Replica> {
  const fresh = { id: randomUUID(), replicas: 1 };
  if (dataDir === null) return fresh;
  try {
    return replicaSchema.parse(JSON.parse(await readFile(join(dataDir, fileName), 'utf8')));
  } catch {
    return fresh;
  }
}

/** Rejects with the system's error. */
export async function writeReplica(dataDir: string | null, replica: Replica): Promise<void> {
  if (dataDir !== null) await writeFileDurably(join(dataDir, fileName), JSON.stringify(replica));
}
