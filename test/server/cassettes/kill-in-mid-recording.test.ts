/** A cassette whose gateway is killed while recording. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OpenCassette } from '../../../server/cassettes/deck.ts';
import type { CassetteMode } from '../../../server/contract/cassette.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, testKey } from '../../support/gateway.ts';
import { checkout, collectOutput, plainEnvironment, readyOf } from '../../support/program.ts';
import { completion } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let parent: string;
let folder: string;
let upstream: ScriptedUpstream;
beforeEach(async () => {
  parent = mkdtempSync(join(tmpdir(), 'sluice-killed-'));
  folder = join(parent, 'cassette');
  mkdirSync(folder);
  const content = 'x'.repeat(200_000);
  upstream = await startUpstream((_request, response) => json(response, completion({ content })));
});
afterEach(async () => {
  await upstream.stop();
  rmSync(parent, { recursive: true, force: true });
});

/** A gateway in its own process that records all requests. */
async function start() {
  const config = {
    version: 1,
    providers: [{ id: 'main', baseUrl: upstream.baseUrl, models: ['*'] }],
    groups: [{ id: 'default', cassette: { mode: 'record', folder } }],
    keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
  };
  const file = join(parent, 'sluice.json');
  writeFileSync(file, JSON.stringify(config));
  const line = [join(checkout, 'server/cli.ts'), 'serve', '--json', '--port', '0', '--config', file];
  const child = spawn(process.execPath, [...line, '--data-dir', join(parent, 'data')], {
    env: { ...plainEnvironment, SLUICE_SECRETS: 'file' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close').then(([code]): number | null => code);
  return { child, ended, ...(await readyOf({ child, output: collectOutput(child), ended })) };
}

const open = (mode: CassetteMode) => OpenCassette.open({ folder, mode, pace: 0, problem: () => {} });

test('leaves whole recordings only, and the next one to record removes what is left of the others', {
  timeout: 90_000,
}, async () => {
  const { child, ended, baseUrl } = await start();
  let isAsking = true;
  let asked = 0;
  const ask = async () => {
    while (isAsking) {
      const body = JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: `Question ${asked++}` }] });
      const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
      await fetch(`${baseUrl}/chat/completions`, { method: 'POST', headers, body })
        .then((response) => response.text())
        .catch(() => {});
    }
  };
  const askers = Array.from({ length: 8 }, ask);
  const files = () => readdirSync(folder);
  const written = () => files().filter((name) => name.endsWith('.json')).length;
  await eventually(() => written() >= 10);
  child.kill('SIGKILL');
  isAsking = false;
  await Promise.all([ended, ...askers]);

  const cassette = await open('replay');
  expect(cassette.recordings).toBe(written());
  expect(cassette.recordings).toBeLessThan(asked);
  // The file that a process leaves if it is killed between the two steps of writing.
  const left = '9999-chat-completions-abcdef.json.tmp-0123456789abcdef';
  writeFileSync(join(folder, left), '{ "version": 1, "requ');
  await open('record');
  expect(files()).toContain(left);
  for (const name of files()) utimesSync(join(folder, name), 0, 0);
  await open('record');
  expect(files().filter((name) => !name.endsWith('.json'))).toEqual([]);
  expect(written()).toBe(cassette.recordings);
});
