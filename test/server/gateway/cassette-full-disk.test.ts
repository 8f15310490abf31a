/** A cassette on a full disk. The program's data folder is on another disk. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CassetteView } from '../../../server/contract/cassette.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, testKey } from '../../support/gateway.ts';
import { onlyIf } from '../../support/only-if.ts';
import { checkout, collectOutput, endProcess, readyOf } from '../../support/program.ts';
import { fillDisk, makeRoom, seenBy, spawnOnSmallDisk } from '../../support/small-disk.ts';
import { completion } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let folder: string;
let upstream: ScriptedUpstream;
let child: ChildProcess | undefined;
let origin: string;
/** The cassette's path as the program sees it. */
let cassette: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-full-'));
  mkdirSync(join(folder, 'disk'));
  const content = 'x'.repeat(10_000);
  upstream = await startUpstream((_request, response) => json(response, completion({ content })));
});
afterEach(async () => {
  if (child) await endProcess(child, 'SIGKILL');
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const disk = join(folder, 'disk');
  const config = {
    version: 1,
    providers: [{ id: 'main', baseUrl: upstream.baseUrl, models: ['*'] }],
    groups: [{ id: 'default', cassette: { mode: 'record', folder: join(disk, 'cassette') } }],
    keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
  };
  const file = join(folder, 'sluice.json');
  writeFileSync(file, JSON.stringify(config));
  const program = [process.execPath, join(checkout, 'server/cli.ts'), 'serve', '--json', '--port', '0'];
  const started = spawnOnSmallDisk(disk, [...program, '--data-dir', join(folder, 'data'), '--config', file]);
  child = started;
  const ended = once(started, 'close').then(([code]): number | null => code);
  const ready = await readyOf({ child: started, output: collectOutput(started), ended });
  origin = new URL(ready.baseUrl).origin;
  cassette = seenBy(ready.pid, join(disk, 'cassette'));
}

function post(path: string, key: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body) });
}

let asked = 0;

async function serves(): Promise<void> {
  const messages = [{ role: 'user', content: `Question ${asked++}` }];
  const response = await post('/v1/chat/completions', testKey, { model: 'gpt-x', messages });
  expect([response.status, (await response.text()).length > 10_000]).toEqual([200, true]);
}

async function view(): Promise<CassetteView | undefined> {
  const token = readFileSync(join(folder, 'data', 'admin.token'), 'utf8').trim();
  const response = await post('/control/query', token, { type: 'cassettes' });
  return ((await response.json()) as { result: CassetteView[] }).result[0];
}

/** The lines of the log about it. */
function told(): string[] {
  const logs = join(folder, 'data', 'logs');
  const lines = readdirSync(logs).flatMap((name) => readFileSync(join(logs, name), 'utf8').split('\n'));
  return lines.filter((line) => line.includes('could not be written'));
}

test.runIf(onlyIf(process.platform === 'linux', 'a disk of its own is made by Linux namespaces'))(
  'a cassette on a full disk is reported once, harms no request, and continues when there is room',
  async () => {
    await start();
    await serves();
    await eventually(async () => (await view())?.recorded === 1);
    fillDisk(cassette);
    await serves();
    await serves();
    await eventually(async () => (await view())?.failed === 2);
    expect((await view())?.problem).toMatch(/could not be written to .*: the disk is full \(ENOSPC\)\.$/);
    await eventually(() => told().length > 0);
    expect(told()).toHaveLength(1);
    expect(readdirSync(cassette).filter((name) => name.includes('.tmp-'))).toEqual([]);
    makeRoom(cassette);
    await serves();
    await eventually(async () => (await view())?.recorded === 2);
    expect(await view()).toMatchObject({ failed: 2, problem: null });
    expect(told()).toHaveLength(1);
  },
);
