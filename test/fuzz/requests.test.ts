import net from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FaultUpstream, startFaultUpstream } from '../support/fault-upstream.ts';
import { mainProvider, testKey } from '../support/gateway.ts';
import { calls, requestFor } from '../support/openai-calls.ts';
import { fuzz, startWatched, timeoutMs, type WatchedGateway } from './fuzz.ts';

/**
 * Writes the bytes to a port, closes its own side, and reads until the other side closes. Rejects if that takes longer
 * than `limitMs`.
 */
function rawExchange(port: number, bytes: Buffer, limitMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const socket = net.connect({ host: '127.0.0.1', port });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`The connection was still open after ${limitMs} ms.`));
    }, limitMs);
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    // A reset also closes the connection.
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(pieces));
    });
    socket.end(bytes);
  });
}

const limitMs = 20_000;

let upstream: FaultUpstream;
let gateway: WatchedGateway;
beforeAll(async () => {
  upstream = await startFaultUpstream();
  gateway = await startWatched({
    config: {
      providers: [mainProvider(upstream.lane('main').baseUrl, { timeouts: { firstByteMs: 1_000, idleMs: 1_000 } })],
      settings: { limits: { jsonBodyBytes: 100_000, multipartBodyBytes: 200_000 } },
    },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

/** Each call, and other requests to the port, as raw bytes. */
async function corpus(): Promise<Buffer[]> {
  const onWire = calls.map(async (call) => {
    const { path, init } = requestFor(call, 'gpt-x', 'video_made');
    const request = new Request(`http://127.0.0.1/v1${path}`, init);
    const body = Buffer.from(await request.arrayBuffer());
    const headers = Object.fromEntries(request.headers);
    return message(`${call.method} /v1${path}`, headers, body);
  });
  return [
    ...(await Promise.all(onWire)),
    message('GET /v1/models', {}),
    message('GET /v1/models/gpt-x', {}),
    message('GET /v1/videos?limit=2&after=video_made', {}),
    message('DELETE /v1/responses/resp_1', {}),
    message('OPTIONS /v1/chat/completions', { origin: 'http://127.0.0.1', 'access-control-request-method': 'POST' }),
    message('POST /control/execute', { 'content-type': 'application/json' }, Buffer.from('{"type":"key.add"}')),
    message('POST /control/query', { 'content-type': 'application/json' }, Buffer.from('{"type":"status"}')),
    message('GET /', { accept: 'text/html' }),
    Buffer.from(
      `POST /v1/embeddings HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${testKey}\r\ncontent-type: application/json\r\n` +
        'transfer-encoding: chunked\r\nconnection: close\r\n\r\n10\r\n{"model":"gpt-x"\r\nd\r\n,"input":"a"}\r\n0\r\n\r\n',
    ),
  ];
}

function message(start: string, headers: Record<string, string>, body: Buffer = Buffer.alloc(0)): Buffer {
  const all = { host: '127.0.0.1', authorization: `Bearer ${testKey}`, ...headers, connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  if (body.length > 0) lines.push(`content-length: ${body.length}\r\n`);
  return Buffer.concat([Buffer.from(`${start} HTTP/1.1\r\n${lines.join('')}\r\n`), body]);
}

test('whatever a client sends is answered or its connection closed, and leaves nothing behind', {
  timeout: timeoutMs,
}, async () => {
  const report = await fuzz({
    name: 'requests',
    corpus: await corpus(),
    async run(input) {
      const known = gateway.faults.length;
      const answer = (await rawExchange(gateway.port, input, limitMs)).toString('latin1');
      if (answer !== '' && !/^HTTP\/1\.1 [1-5]\d\d [^\r]*\r\n/.test(answer))
        throw new Error(`It answered ${answer.slice(0, 200)}`);
      if (/^HTTP\/1\.1 500 /.test(answer))
        throw new Error(`It answered with a fault of its own: ${answer.slice(0, 500)}`);
      if (gateway.faults.length > known) throw new Error(`It logged ${gateway.faults.at(-1)}`);
    },
  });
  expect(report.failures).toEqual([]);
  expect(report.runs).toBeGreaterThan(300);
  await gateway.expectNothingLeft();
  const { data } = await gateway.client.models.list();
  expect(data.map(({ id }) => id)).toEqual(['gpt-x']);
});
