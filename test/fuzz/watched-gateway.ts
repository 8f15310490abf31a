/** A gateway that records its internal errors, and what remains of requests after they have ended. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { expect } from 'vitest';
import { openSqliteDatabase } from '../../server/store/sqlite/database.ts';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { memoryInUse } from '../support/memory-in-use.ts';

export interface WatchedGateway extends TestGateway {
  port: number;
  /** Messages logged as errors; each is a bug in the program. */
  readonly faults: readonly string[];
  /**
   * To be called after all requests have ended. Expects no open sockets, temporary files or running requests, and no
   * more memory than before.
   */
  expectNothingLeft(): Promise<void>;
}

const errorLevel = 50;
const mayGrowMb = 40;

export async function startWatched({ ports, ...options }: TestGatewayOptions): Promise<WatchedGateway> {
  const faults: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void faults.push(line) });
  const gateway = await startGateway({ ...options, ports: { ...ports, log } });
  const before = { sockets: sockets(), heapMb: heapMb() };
  return {
    ...gateway,
    port: Number(new URL(gateway.origin).port),
    get faults() {
      return faults.filter((line) => JSON.parse(line).level >= errorLevel);
    },
    async expectNothingLeft() {
      // Allows for a few connections that are kept alive for the next request.
      await expect.poll(sockets).toBeLessThan(before.sockets + 40);
      await expect.poll(() => spooled(gateway.folder)).toEqual([]);
      await expect.poll(() => running(gateway.folder)).toBe(0);
      expect(heapMb()).toBeLessThan(before.heapMb + mayGrowMb);
    },
  };
}

function sockets(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
}

function spooled(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.upload'));
}

function running(folder: string): number {
  const database = openSqliteDatabase(join(folder, 'ledger.sqlite'));
  try {
    return Number(database.prepare('SELECT count(*) AS count FROM requests WHERE outcome IS NULL').get()?.count);
  } finally {
    database.close();
  }
}

const heapMb = () => memoryInUse().heapUsed / 1024 / 1024;
