/** Clients whose bodies wait for memory: Sluice does not read them yet, so that they are not slow. */
import http, { type ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { mainProvider, startGateway, testKey } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, startUpstream } from '../../support/upstream.ts';

const stopLater = stopAfterEach();
const crashed = vi.fn();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  process.on('uncaughtException', crashed);
});
afterEach(() => {
  // The watch ends its timer with a look that finds nobody.
  vi.advanceTimersByTime(10_000);
  vi.useRealTimers();
  process.off('uncaughtException', crashed);
});

/** A gateway whose memory is full until the answer to another request, which is given. */
async function startFull() {
  const held = Promise.withResolvers<ServerResponse>();
  const upstream = await stopLater(startUpstream((_request, response) => held.resolve(response)));
  const settings = { admission: { bytes: 100_000, waitMs: 600_000 } };
  const gateway = await stopLater(startGateway({ config: { providers: [mainProvider(upstream.baseUrl)], settings } }));
  const content = 'x'.repeat(200_000);
  const other = gateway.client.chat.completions.create({ model: 'gpt-x', messages: [{ role: 'user', content }] });
  const response = await held.promise;
  const release = async () => {
    upstream.answer((_request, next) => json(next, { choices: [] }));
    json(response, { choices: [] });
    await other;
  };
  return { gateway, upstream, release };
}

const [start, end] = ['{"model":"gpt-x","user":"', '"}'];
const part = (name: string, rest = '') => `--b\r\nContent-Disposition: form-data; name="${name}"${rest}\r\n\r\n`;
const form = `${part('model')}gpt-x\r\n${part('file', '; filename="a.wav"')}`;

test.each([
  ['JSON', '/chat/completions', 'application/json', start, end],
  ['a form', '/audio/transcriptions', 'multipart/form-data; boundary=b', form, '\r\n--b--\r\n'],
])('%s may wait for minutes, and is served then', async (_what, path, type, first, last) => {
  const { gateway, upstream, release } = await startFull();
  const rest = 'x'.repeat(150_000);
  const request = http.request(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${testKey}`,
      'content-type': type,
      'content-length': first.length + rest.length + last.length,
    },
  });
  const status = new Promise((resolve, reject) => {
    request.once('response', (response) => resolve(response.resume().statusCode));
    request.once('error', reject);
  });
  request.write(first);
  for (let look = 0; look < 6; look++) {
    await fetch(`${gateway.origin}/healthz`);
    vi.advanceTimersByTime(10_000);
  }
  expect(upstream.seen).toHaveLength(1);
  await release();
  request.end(rest + last);
  expect(await status).toBe(200);
  expect(crashed).not.toHaveBeenCalled();
});
