/** The total size of request bodies and whole answers is limited: what has no room waits for it, but never for ever. */
import http, { type ServerResponse } from 'node:http';
import { beforeEach, expect, test } from 'vitest';
import { begun, eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const otherKey = 'sk-other';
const kilobyte = 1024;

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let held: ServerResponse[];

beforeEach(async () => {
  held = [];
  upstream = await stopLater(
    startUpstream((_request, response) => {
      held.push(response);
    }),
  );
});

async function start(admission: { bytes: number; waiting?: number; waitMs?: number }): Promise<void> {
  gateway = await stopLater(
    startGateway({
      config: {
        providers: [mainProvider(upstream.baseUrl)],
        keys: [
          { id: 'k1', group: 'default', hash: hashOf(testKey) },
          { id: 'k2', group: 'default', hash: hashOf(otherKey) },
        ],
        settings: { admission },
      },
    }),
  );
}

const chatOf = (bytes: number) => JSON.stringify({ model: 'gpt-x', messages: 'x'.repeat(bytes) });

function ask(bytes: number, key = testKey): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` };
  return begun(fetch(`${gateway.baseUrl}/chat/completions`, { method: 'POST', headers, body: chatOf(bytes) }));
}

/** Sends a chunked body without its length. Resolves with the status. */
function askInChunks(bytes: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      `${gateway.baseUrl}/chat/completions`,
      { method: 'POST', headers: { authorization: `Bearer ${testKey}` }, agent: false },
      (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      },
    );
    request.on('error', reject);
    const text = chatOf(bytes);
    request.write(text.slice(0, 10));
    request.end(text.slice(10));
  });
}

const waitFor = (asked: number) => eventually(() => held.length >= asked);

function answerAll(): void {
  for (const response of held) if (!response.headersSent) json(response, { ok: true });
}

test('a body without room waits for it, while small ones and those of other keys pass', async () => {
  await start({ bytes: 1_000 * kilobyte });
  const first = ask(600 * kilobyte);
  await waitFor(1);
  const second = ask(350 * kilobyte);
  const [small, other] = [ask(10), ask(200 * kilobyte, otherKey)];
  await waitFor(3);
  expect(upstream.seen.map(({ body }) => body.length > 300 * kilobyte)).toEqual([true, false, false]);
  json(held[0] as ServerResponse, { ok: true });
  expect((await first).status).toBe(200);
  await waitFor(4);
  answerAll();
  expect((await Promise.all([second, small, other])).map(({ status }) => status)).toEqual([200, 200, 200]);
});

test('a key whose bodies take much room does not block the one long body of another key', async () => {
  await start({ bytes: 1_000 * kilobyte, waitMs: 50 });
  const bodies = [ask(400 * kilobyte), ask(350 * kilobyte)];
  await waitFor(2);
  const other = ask(240 * kilobyte, otherKey);
  await Promise.race([waitFor(3), other]);
  answerAll();
  expect((await other).status).toBe(200);
  expect((await Promise.all(bodies)).map(({ status }) => status)).toEqual([200, 200]);
});

test('a request that has waited too long for room is refused with a retry time, and nothing reaches the provider', async () => {
  await start({ bytes: 1_000 * kilobyte, waitMs: 50 });
  const first = ask(600 * kilobyte);
  await waitFor(1);
  const reply = await ask(350 * kilobyte);
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, '1']);
  expect(await reply.json()).toMatchObject({ error: { type: 'rate_limit_error', code: 'slow_down' } });
  expect(upstream.seen).toHaveLength(1);
  answerAll();
  expect((await first).status).toBe(200);
});

test('a body that is longer than the whole bound passes, and a second one after it', async () => {
  await start({ bytes: 100 * kilobyte });
  const [first, second] = [ask(500 * kilobyte), ask(500 * kilobyte)];
  await waitFor(1);
  expect(upstream.seen).toHaveLength(1);
  json(held[0] as ServerResponse, { ok: true });
  await waitFor(2);
  answerAll();
  expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([200, 200]);
});

test('bodies of unknown length that have begun together all come to their end', async () => {
  upstream.answer((_request, response) => json(response, { ok: true }));
  await start({ bytes: 512 * kilobyte });
  const statuses = await Promise.all(Array.from({ length: 6 }, () => askInChunks(400 * kilobyte)));
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200]);
});

test('a long answer passes as it comes where there is no room to hold it', async () => {
  await start({ bytes: 100 * kilobyte });
  const reply = ask(10);
  await waitFor(1);
  const [response] = held;
  response?.writeHead(200, { 'content-type': 'application/json' });
  response?.write('{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"');
  response?.write('x'.repeat(1_500 * kilobyte));
  // The upstream has not finished yet.
  const begunReply = await reply;
  expect(begunReply.status).toBe(200);
  response?.end('"}}]}');
  expect(await begunReply.json()).toMatchObject({ choices: [{ index: 0 }] });
});
