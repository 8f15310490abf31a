import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ControlEvent } from '../../../server/contract/events.ts';
import { eventually } from '../../support/eventually.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  upstream = await startUpstream((_request, response) => json(response, { ok: true }));
});
afterEach(async () => {
  await gateway.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a request that blocks the event loop is named in the log during the block, and in the status afterwards', async () => {
  const logPath = join(folder, 'sluice.log');
  const pause = new Int32Array(new SharedArrayBuffer(4));
  gateway = await startGateway({
    config: { providers: [mainProvider(upstream.baseUrl)] },
    ports: {
      logPath,
      // Blocks the loop in the middle of a request until that is logged.
      logRequest: () => {
        while (!existsSync(logPath) || readFileSync(logPath).length === 0) Atomics.wait(pause, 0, 0, 50);
      },
    },
  });
  const events: ControlEvent[] = [];
  const stop = gateway.gateway.onEvent(({ event }) => events.push(event));
  await eventually(() => events.length > 0);
  const reply = await gateway.fetch('/chat/completions', { method: 'POST', body: '{"model":"gpt-x","messages":[]}' });
  const id = reply.headers.get('x-request-id');
  const told = await eventually(() => events.find(({ type }) => type === 'standstill') ?? null);
  stop();
  const request = { id, keyId: 'k1', route: 'POST /v1/chat/completions' };
  expect(told).toMatchObject({ standstill: { count: 1, request } });
  expect(await gateway.gateway.query({ type: 'status' })).toMatchObject({ standstill: { count: 1, request } });
  const line = JSON.parse(readFileSync(logPath, 'utf8').trim());
  expect(line).toMatchObject({ level: 50, request: id, key: 'k1', route: request.route });
});
