/** Long bodies that are captured: without secrets, and also when the program stops at once. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { mainProvider, startGateway, testKey } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, startUpstream } from '../../support/upstream.ts';

const stopLater = stopAfterEach();
const credential = 'planted-credential-4711';
const words = 'Some words of a long text. '.repeat(20_000);

test('a long exchange is captured without its secrets, and is there after a stop at once', async () => {
  const upstream = await stopLater(startUpstream());
  upstream.answer((_request, response) => json(response, { echo: `${words} ${credential} ${words} ${testKey}` }));
  const folder = mkdtempSync(join(tmpdir(), 'sluice-captures-'));
  const options = {
    folder,
    config: {
      providers: [mainProvider(upstream.baseUrl)],
      groups: [{ id: 'default', capture: true }],
      settings: { capture: { maxBytes: 4_000_000 } },
    },
    secrets: { 'provider/main/c1': credential },
  };
  const first = await startGateway(options);
  const body = JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: `${words}${testKey} ${words}` }] });
  const headers = { 'content-type': 'application/json' };
  const answered = await first.fetch('/chat/completions', { method: 'POST', body, headers });
  await answered.text();
  const id = answered.headers.get('x-sluice-request-id') ?? '';
  await first.stop();
  const second = await startGateway(options);
  const capture = await eventually(async () => (await second.gateway.query({ type: 'request', id })).capture);
  const [request = '', response = ''] = [capture.request.body?.data, capture.response.body?.data];
  expect([request.length, response.length].every((length) => length > words.length)).toBe(true);
  expect([request.match(/\[redacted\]/g)?.length, response.match(/\[redacted\]/g)?.length]).toEqual([1, 2]);
  const found = [credential, testKey].filter((secret) => `${request}${response}`.includes(secret));
  expect(found).toEqual([]);
  await second.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a long exchange that is opened as soon as it has ended is there, and never told as lost', async () => {
  const upstream = await stopLater(startUpstream());
  upstream.answer((_request, response) => json(response, { echo: words }));
  const gateway = await stopLater(
    startGateway({
      config: {
        providers: [mainProvider(upstream.baseUrl)],
        groups: [{ id: 'default', capture: true }],
        settings: { capture: { maxBytes: 8_000_000 } },
      },
    }),
  );
  const content = words.repeat(8);
  const body = JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content }] });
  const headers = { 'content-type': 'application/json' };
  for (let times = 0; times < 3; times++) {
    const answered = await gateway.fetch('/chat/completions', { method: 'POST', body, headers });
    await answered.text();
    const id = answered.headers.get('x-sluice-request-id') ?? '';
    const full = await eventually(() => gateway.gateway.query({ type: 'request', id }).catch(() => null));
    expect(full.capture?.request.body?.data.length, `${full.captureAbsence}`).toBe(body.length);
  }
});
