/** A data folder on a full disk. The program has a small disk in a mount namespace that any user may create. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LedgerHealthView } from '../../../server/contract/status-views.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, testKey } from '../../support/gateway.ts';
import { onlyIf } from '../../support/only-if.ts';
import { checkout, collectOutput, endProcess, readyOf } from '../../support/program.ts';
import { fillDisk, makeRoom, seenBy, spawnOnSmallDisk } from '../../support/small-disk.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { temporaryFolder } from '../store/sqlite/records.ts';

const folder = temporaryFolder();
const mountPoint = join(folder, 'disk');
let upstream: ScriptedUpstream;
let child: ChildProcess | undefined;
let baseUrl: string;
/** The data folder's path as the program sees it. */
let dataDir: string;

beforeEach(async () => {
  mkdirSync(mountPoint, { recursive: true });
  upstream = await startUpstream((_request, response) => json(response, { id: 'resp_1', object: 'response' }));
});
afterEach(async () => {
  if (child) await endProcess(child, 'SIGKILL');
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const config = {
    version: 1,
    providers: [{ id: 'main', baseUrl: upstream.baseUrl, models: ['*'] }],
    groups: [{ id: 'default' }],
    keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
  };
  const file = join(folder, 'sluice.json');
  writeFileSync(file, JSON.stringify(config));
  const program = [process.execPath, join(checkout, 'server/cli.ts'), 'serve', '--json', '--port', '0'];
  const data = join(mountPoint, 'data');
  child = spawnOnSmallDisk(mountPoint, [...program, '--data-dir', data, '--config', file]);
  const ended = once(child, 'close').then(([code]): number | null => code);
  const ready = await readyOf({ child, output: collectOutput(child), ended });
  baseUrl = ready.baseUrl;
  dataDir = seenBy(ready.pid, data);
}

function post(url: string, key: string, body: string | FormData): Promise<Response> {
  const type = typeof body === 'string' && { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers: { authorization: `Bearer ${key}`, ...type }, body });
}

async function serves(): Promise<void> {
  const reply = await post(`${baseUrl}/responses`, testKey, '{"model":"gpt-x","input":"hi"}');
  expect([reply.status, await reply.json()]).toEqual([200, { id: 'resp_1', object: 'response' }]);
}

async function ledgerHealth(): Promise<LedgerHealthView> {
  const token = readFileSync(join(dataDir, 'admin.token'), 'utf8').trim();
  const reply = await post(`${new URL(baseUrl).origin}/control/query`, token, '{"type":"status"}');
  return ((await reply.json()) as { result: { ledger: LedgerHealthView } }).result.ledger;
}

test.runIf(onlyIf(process.platform === 'linux', 'a disk of its own is made by Linux namespaces'))(
  'a full disk delays what is recorded; uploads get an error and leave nothing behind',
  async () => {
    await start();
    await serves();
    await eventually(async () => (await ledgerHealth()).pending === 0);
    fillDisk(dataDir);
    // Rows that fit into existing pages are still written.
    const health = await eventually(async () => {
      await serves();
      const found = await ledgerHealth();
      return found.ok ? null : found;
    });
    expect(health.lastError).toMatch(/full|I\/O/);
    const uploads = () => readdirSync(join(dataDir, 'tmp'));
    const before = uploads();
    const form = new FormData();
    form.set('model', 'gpt-x');
    form.set('file', new Blob([Buffer.alloc(600_000)]), 'a.wav');
    const upload = await post(`${baseUrl}/audio/transcriptions`, testKey, form);
    expect(upload.status).toBe(507);
    expect(await upload.json()).toEqual({
      error: {
        message: expect.stringContaining('disk is full'),
        type: 'server_error',
        param: null,
        code: 'storage_full',
      },
    });
    expect(upload.headers.get('x-should-retry')).toBe('false');
    await eventually(() => uploads().length === before.length);
    makeRoom(dataDir);
    const recovered = await eventually(async () => {
      await serves();
      const found = await ledgerHealth();
      return found.ok && found.pending < 50 ? found : null;
    });
    expect(recovered.dropped).toBe(0);
  },
);
