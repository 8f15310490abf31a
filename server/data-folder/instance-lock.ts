/**
 * One program per data folder. `instance.json` says who holds it; a file that a killed program left is told from one of
 * a living program by the process, and by whether that program still answers as the same instance.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { GatewayError } from '../contract/errors.ts';
import { describeFileProblem, isUnwritable, systemErrorCode } from '../files/file-problem.ts';
import { answersAsInstance } from './instance-probe.ts';

const instanceInfoSchema = z.object({
  pid: z.number().int().positive(),
  /** Unix milliseconds. */
  startedAt: z.number(),
  instanceId: z.string(),
  /** Null until it listens. */
  host: z.string().nullable(),
  port: z.number().int().nullable(),
});
export type InstanceInfo = z.infer<typeof instanceInfoSchema>;

export interface InstanceAddress {
  port: number;
  host: string;
  instanceId: string;
}

export interface InstanceLock {
  /** Tells others where this instance answers, and under which id its `/healthz` does. */
  update(address: InstanceAddress): Promise<void>;
  release(): Promise<void>;
}

/** The file that says who holds the folder cannot be written now, but perhaps later. */
export class UnwritableFolder extends GatewayError {
  /** For a person. */
  readonly reason: string;

  constructor(path: string, error: unknown) {
    const reason = describeFileProblem(error);
    super('internal', `${path} cannot be written: ${reason}.`);
    this.reason = reason;
  }
}

/** How long a program may take from its start until it listens; after that, a process without a port is another one. */
const startLimitMs = 30_000;
const attempts = 10;
const retryMs = 30;

/** Ids of the locks that this very process holds: in a container every program has the same process id. */
const heldHere = new Set<string>();

/** Takes the data folder for this process, or tells who has it. Rejects with `UnwritableFolder`. */
export async function acquireInstanceLock(dataDir: string): Promise<InstanceLock | { holder: InstanceInfo }> {
  const path = instanceFile(dataDir);
  const own: InstanceInfo = {
    pid: process.pid,
    startedAt: Date.now(),
    instanceId: randomUUID(),
    host: null,
    port: null,
  };
  for (let attempt = 1; attempt <= attempts; attempt++) {
    if (createFile(path, own)) return holdLock(path, own);
    const found = readInfo(path);
    if (found && (await isAlive(found))) return { holder: found };
    // A file that cannot be read is perhaps being written at this moment, so it is given time first.
    if (found || attempt > attempts / 2) removeStale(path, found);
    else await wait(retryMs);
  }
  throw new GatewayError('internal', `${path} cannot be taken: several programs are starting at once. Try again.`);
}

const instanceFile = (dataDir: string) => join(dataDir, 'instance.json');

function holdLock(path: string, own: InstanceInfo): InstanceLock {
  let current = own;
  heldHere.add(current.instanceId);
  const isOurs = () => {
    try {
      return readInfo(path)?.instanceId === current.instanceId;
    } catch {
      return false;
    }
  };
  return {
    update: async (info) => {
      if (!isOurs()) return;
      const next = { ...current, ...info };
      heldHere.add(next.instanceId);
      replaceFile(path, next);
      if (next.instanceId !== current.instanceId) heldHere.delete(current.instanceId);
      current = next;
    },
    release: async () => {
      heldHere.delete(current.instanceId);
      if (isOurs()) rmSync(path, { force: true });
    },
  };
}

/** Who holds the folder, without taking it. */
export async function findInstance(dataDir: string): Promise<InstanceInfo | undefined> {
  const found = readInfo(instanceFile(dataDir));
  return found && (await isAlive(found)) ? found : undefined;
}

async function isAlive(info: InstanceInfo): Promise<boolean> {
  if (info.pid === process.pid) return heldHere.has(info.instanceId);
  if (!processExists(info.pid)) return false;
  if (info.port === null || info.host === null) return Date.now() - info.startedAt < startLimitMs;
  return answersAsInstance({ host: info.host, port: info.port }, info.instanceId);
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) === 'EPERM';
  }
}

/** False if the file is there already. */
function createFile(path: string, info: InstanceInfo): boolean {
  const file = openNew(path);
  if (file === undefined) return false;
  try {
    writeFileSync(file, JSON.stringify(info));
    return true;
  } catch (error) {
    // On a full disk an empty one was made.
    rmSync(path, { force: true });
    throw notTaken(path, error);
  } finally {
    closeSync(file);
  }
}

/** Undefined if the file is there already; then nothing is removed, whatever else fails: it may be another's. */
function openNew(path: string): number | undefined {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return undefined;
    throw notTaken(path, error);
  }
}

function notTaken(path: string, error: unknown): GatewayError {
  if (isUnwritable(error)) return new UnwritableFolder(path, error);
  return new GatewayError('internal', `${path} cannot be written: ${describeFileProblem(error)}.`);
}

function replaceFile(path: string, info: InstanceInfo): void {
  const temporary = `${path}.${info.pid}`;
  writeFileSync(temporary, JSON.stringify(info), { mode: 0o600 });
  renameSync(temporary, path);
}

/** Undefined if there is none that makes sense. Throws where this program has no descriptor left to look at it. */
function readInfo(path: string): InstanceInfo | undefined {
  try {
    return instanceInfoSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    if (['EMFILE', 'ENFILE'].includes(systemErrorCode(error) ?? '')) throw notTaken(path, error);
    return undefined;
  }
}

/**
 * Moves the file away and only then looks whether it is the stale one that was read: between the two, another program
 * may have taken the folder over, and removing by name would remove its file.
 */
function removeStale(path: string, stale: InstanceInfo | undefined): void {
  const moved = `${path}.${randomUUID()}`;
  try {
    renameSync(path, moved);
    if (readInfo(moved)?.instanceId !== stale?.instanceId) linkSync(moved, path);
  } catch (error) {
    if (isUnwritable(error)) throw new UnwritableFolder(path, error);
    // Somebody else was quicker; the next attempt sees what there is.
  }
  rmSync(moved, { force: true });
}
