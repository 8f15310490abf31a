import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEngineHost, type EngineHost } from '../../electron/engine-host.ts';
import type { CassetteDeck } from '../../server/exchange/cassette/cassette-companion.ts';
import { memoryPersistence } from '../support/gateway.ts';

let dataDir: string;
let hosts: EngineHost[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'sluice-host-'));
  hosts = [];
});
afterEach(async () => {
  for (const host of hosts) await host.switchOff();
  rmSync(dataDir, { recursive: true, force: true });
});

/** @param config undefined for the very first start */
function create(
  config: object | undefined = { version: 1, groups: [{ id: 'default' }], settings: { port: 0 } },
  cassette?: CassetteDeck,
): EngineHost {
  const persistence = memoryPersistence(config);
  const host = createEngineHost(dataDir, {
    environment: { dataDir, systemLogDir: null, passphrase: undefined, secrets: 'file', proxies: {} },
    env: {},
    notice: () => {},
    openPersistence: () => persistence,
    listen: { port: 0 },
    cassette,
  });
  hosts.push(host);
  return host;
}

describe('the engine inside the desktop', () => {
  it('is off, starts, serves, stops and is off', async () => {
    const host = create();
    const seen: string[] = [host.state.kind];
    host.onChange(({ kind }) => seen.push(kind));
    await host.switchOn();
    expect(host.gateway).not.toBeNull();
    await host.switchOff();
    expect(seen).toEqual(['off', 'starting', 'serving', 'stopping', 'off']);
    expect(host.gateway).toBeNull();
  });

  it('is a single one, however often and fast it is switched', async () => {
    const host = create();
    await Promise.all([host.switchOn(), host.switchOn(), host.switchOff(), host.switchOn()]);
    expect(host.state.kind).toBe('serving');
    const { baseUrl } = host.state.kind === 'serving' ? host.state : { baseUrl: '' };
    expect((await fetch(`${baseUrl}/models`)).status).toBe(401);
  });

  it('reports who holds the data folder, and serves once it is released', async () => {
    const [first, second] = [create(), create()];
    await first.switchOn();
    await second.switchOn();
    expect(second.state).toEqual({
      kind: 'failed',
      problem: { code: 'folder-taken', folder: dataDir, pid: process.pid },
    });
    await first.switchOff();
    await second.switchOn();
    expect(second.state.kind).toBe('serving');
  });

  it('says why it did not stop cleanly, and starts again', async () => {
    const full = () => Promise.reject(new Error('the disk is full'));
    const host = create(undefined, { replaysOnly: false, take: full, close: full });
    await host.switchOn();
    await host.switchOff();
    expect(host.state).toEqual({ kind: 'failed', problem: { code: 'stop-failed', message: 'the disk is full' } });
    await host.switchOn();
    expect(host.state.kind).toBe('serving');
  });
});
