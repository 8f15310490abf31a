import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FaultUpstream, receive, startFaultUpstream } from '../support/fault-upstream.ts';
import { mainProvider } from '../support/gateway.ts';
import { calls, type OpenAiCall, requestFor, type WholeAnswer } from '../support/openai-calls.ts';
import { fuzz, startWatched, timeoutMs, type WatchedGateway } from './fuzz.ts';

const limitMs = 20_000;
const timeouts = { connectMs: 1_000, firstByteMs: 500, firstContentMs: 500, idleMs: 500, totalMs: 2_000 };

const asked = calls.filter(({ isPinned }) => !isPinned);
/** Replies by case number, which each request carries in a header. */
const scripted = new Map<string, Buffer>();
let upstream: net.Server;
let healthy: FaultUpstream;
let gateway: WatchedGateway;
/**
 * Milliseconds by which each case advances the engine's clock, so that no failure puts the target of the next case in
 * cooldown.
 */
const forwardMs = 25_000;
let aheadMs = 0;
const realNow = performance.now.bind(performance);

beforeAll(async () => {
  upstream = net.createServer((socket) => {
    let head = '';
    socket.on('error', () => {});
    socket.on('data', (piece: Buffer) => {
      head += piece.toString('latin1');
      const number = /^x-case: (\d+)\r$/im.exec(head)?.[1];
      const reply = number === undefined ? undefined : scripted.get(number);
      if (!reply || !head.includes('\r\n\r\n')) return;
      socket.removeAllListeners('data').resume();
      socket.end(reply);
    });
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const address = upstream.address();
  if (!address || typeof address === 'string') throw new Error('A server on a port has a port.');
  healthy = await startFaultUpstream();
  const policy = { retries: 0, budgetMs: 86_400_000, timeouts };
  const mutated = { baseUrl: `http://127.0.0.1:${address.port}/v1`, credentials: [] };
  gateway = await startWatched({
    config: {
      providers: [
        mainProvider(mutated.baseUrl, { ...mutated, models: ['alone'] }),
        { ...mutated, id: 'first', models: ['pair'] },
        { id: 'second', baseUrl: healthy.lane('second').baseUrl, models: ['pair'] },
      ],
      groups: [{ id: 'default', policy }],
    },
  });
  // Replaced by hand: a spy would keep every call, some 40 MB.
  performance.now = () => realNow() + aheadMs;
});
afterAll(async () => {
  performance.now = realNow;
  await gateway?.stop();
  await healthy?.stop();
  upstream?.close();
});

/**
 * The number of the call, followed by its reply as raw bytes: with a length or chunked, and without either, ending with
 * the connection.
 */
function inputs(index: number, { contentType, bytes, events }: WholeAnswer): Buffer[] {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\nx-request-id: req_1\r\n`;
  const chunk = (piece: Buffer) =>
    Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
  const half = Math.floor(bytes.length / 2);
  const framed = events
    ? [
        `${head}transfer-encoding: chunked\r\n\r\n`,
        chunk(bytes.subarray(0, half)),
        chunk(bytes.subarray(half)),
        '0\r\n\r\n',
      ]
    : [`${head}content-length: ${bytes.length}\r\n\r\n`, bytes];
  const open = [`${head}connection: close\r\n\r\n`, bytes];
  return [framed, open].map((parts) =>
    Buffer.concat([
      Buffer.from([index]),
      ...parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)),
    ]),
  );
}

const failure = (status: number, body: object) => {
  const bytes = Buffer.from(JSON.stringify(body));
  const head = `HTTP/1.1 ${status} Failed\r\ncontent-type: application/json\r\nretry-after: 1\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from([0]), Buffer.from(head), bytes]);
};

const corpus = [
  ...asked.flatMap(({ answer }, index) => inputs(index, answer)),
  failure(429, { error: { message: 'Slow down.', type: 'requests', code: 'rate_limit_exceeded', param: null } }),
  failure(500, { error: { message: 'Sorry.', type: 'server_error', code: null, param: null } }),
  failure(429, [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '3.4s' }] } }]),
];

let cases = 0;

async function ask(call: OpenAiCall, model: string, reply: Buffer): Promise<void> {
  aheadMs += forwardMs;
  const number = String(++cases);
  scripted.set(number, reply);
  const { path, init } = requestFor(call, model);
  const signal = AbortSignal.timeout(limitMs);
  const response = await gateway.fetch(path, { ...init, headers: { ...init.headers, 'x-case': number }, signal });
  await receive(response);
  scripted.delete(number);
  if (signal.aborted) throw new Error(`It did not end within ${limitMs} ms.`);
}

test('whatever an upstream answers, the request ends and leaves nothing behind', { timeout: timeoutMs }, async () => {
  const report = await fuzz({
    name: 'replies',
    corpus,
    async run(bytes) {
      const known = gateway.faults.length;
      const call = asked[(bytes[0] ?? 0) % asked.length];
      // Once without a fallback, and once with a target that continues a broken answer.
      for (const model of ['alone', 'pair']) if (call) await ask(call, model, bytes.subarray(1));
      healthy.lane('second').forget();
      if (gateway.faults.length > known) throw new Error(`It logged ${gateway.faults.at(-1)}`);
    },
  });
  expect(report.failures).toEqual([]);
  expect(report.runs).toBeGreaterThan(200);
  await gateway.expectNothingLeft();
});
