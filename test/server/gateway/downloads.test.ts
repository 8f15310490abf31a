/** Long files that break off in transit: the client receives the rest from that position, or sees the break. */
import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';

/** More than Sluice holds back as a whole. */
const film = Buffer.from(Array.from({ length: 9 * 1024 * 1024 }, (_, index) => (index * 31 + (index >> 13)) % 251));
const brokenAt = 3_000_000;
const path = '/videos/video_1/content';

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let gateway: TestGateway;

const start = async (policy: object = {}) => {
  upstream = await stopLater(startUpstream((_request, response) => json(response, { id: 'video_1', object: 'video' })));
  gateway = await stopLater(
    startGateway({
      config: {
        providers: [mainProvider(upstream.baseUrl)],
        groups: [{ id: 'default', policy: { retries: 2, fallbacks: 1, ...policy } }],
      },
    }),
  );
  await gateway.client.videos.create({ prompt: 'A cat', seconds: '4' });
};

beforeEach(() => start());

interface Serving {
  headers?: Record<string, string | undefined>;
  /** The film, or another one. */
  bytes?: Buffer;
  /** Where the connection breaks, counted from the beginning of this reply. Absent if it does not break. */
  breaksAfter?: number;
}

/** Serves the film, or the requested part of it. */
const serve = (request: SeenRequest, response: ServerResponse) => serveSo({}, request, response);

function serveSo({ headers, bytes = film, breaksAfter }: Serving, request: SeenRequest, response: ServerResponse) {
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  const first = Number(range?.[1] ?? 0);
  const part = bytes.subarray(first, range?.[2] ? Number(range[2]) + 1 : undefined);
  const head = {
    'content-type': 'video/mp4',
    'accept-ranges': 'bytes',
    etag: '"film"',
    'content-length': String(part.length),
    ...(range && { 'content-range': `bytes ${first}-${first + part.length - 1}/${bytes.length}` }),
    ...headers,
  };
  for (const [name, value] of Object.entries(head)) if (value !== undefined) response.setHeader(name, value);
  response.writeHead(range ? 206 : 200);
  if (breaksAfter === undefined) response.end(part);
  else response.write(part.subarray(0, breaksAfter), () => setTimeout(() => response.destroy(), 20));
}

/** The first reply breaks; the test answers all later requests. */
function breaksOnce(then: Parameters<ScriptedUpstream['answer']>[0], first: Serving = {}): void {
  let asked = 0;
  upstream.answer((request, response, raw) => {
    if (++asked === 1) serveSo({ breaksAfter: brokenAt, ...first }, request, response);
    else void then(request, response, raw);
  });
}

async function download(headers: Record<string, string> = {}) {
  const response = await gateway.fetch(path, { headers });
  const bytes = await response.arrayBuffer().then(Buffer.from, () => null);
  const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  return { response, bytes, record, asked: upstream.seen.slice(1) };
}

describe('a long film that breaks off', () => {
  test('goes on from there, as one answer', async () => {
    breaksOnce(serve);
    const { response, bytes, record, asked } = await download();
    expect([response.status, response.headers.get('content-length')]).toEqual([200, String(film.length)]);
    expect(bytes?.equals(film)).toBe(true);
    const rest = /^bytes=(\d+)-(\d+)$/.exec(asked[1]?.headers.range ?? '');
    expect([Number(rest?.[1]), Number(rest?.[2])]).toEqual([brokenAt, film.length - 1]);
    expect(asked.map(({ headers }) => headers['if-range'])).toEqual([undefined, '"film"']);
    expect(record).toMatchObject({
      outcome: 'ok',
      status: 200,
      bytesOut: film.length,
      attempts: [
        { cause: 'first', status: 200, failure: 'stream-broken' },
        { cause: 'rescue', status: 206, failure: null, provider: 'main', credential: 'c1' },
      ],
    });
  });

  test('goes on as often as the policy has retries, and no further', async () => {
    upstream.answer((request, response) => serveSo({ breaksAfter: brokenAt - 1 }, request, response));
    const { bytes, record, asked } = await download();
    expect(bytes).toBeNull();
    expect(asked.map(({ headers }) => headers.range)).toEqual([
      undefined,
      `bytes=${brokenAt - 1}-${film.length - 1}`,
      `bytes=${2 * (brokenAt - 1)}-${film.length - 1}`,
    ]);
    expect(record).toMatchObject({ outcome: 'stream-broken', status: 200, bytesOut: 3 * (brokenAt - 1) });
    expect(record.attempts).toHaveLength(3);
  });

  test('goes on within the part that the client asked for', async () => {
    const [first, last] = [100, film.length - 101];
    breaksOnce(serve);
    const { response, bytes, asked } = await download({ range: `bytes=${first}-${last}`, 'if-range': '"film"' });
    expect([response.status, response.headers.get('content-range')]).toEqual([
      206,
      `bytes ${first}-${last}/${film.length}`,
    ]);
    expect(bytes?.equals(film.subarray(first, last + 1))).toBe(true);
    expect(asked[1]?.headers.range).toBe(`bytes=${first + brokenAt}-${last}`);
  });

  test('goes on by its date where nothing else names it', async () => {
    const dated = { etag: undefined, 'last-modified': 'Wed, 01 Jan 2025 00:00:00 GMT' };
    breaksOnce((request, response) => serveSo({ headers: dated }, request, response), { headers: dated });
    const { bytes, asked } = await download();
    expect(bytes?.equals(film)).toBe(true);
    expect(asked[1]?.headers['if-range']).toBe(dated['last-modified']);
  });

  test('goes on where the redirect to its storage leads, without any credential', async () => {
    let asked = 0;
    upstream.answer((request, response) => {
      if (request.url.startsWith('/v1/')) response.writeHead(302, { location: '/storage/film.mp4' }).end();
      else serveSo(++asked === 1 ? { breaksAfter: brokenAt } : {}, request, response);
    });
    const { bytes } = await download();
    expect(bytes?.equals(film)).toBe(true);
    const last = upstream.seen.at(-1);
    expect([last?.url, last?.headers.range, last?.headers['if-range'], last?.headers.authorization]).toEqual([
      '/storage/film.mp4',
      `bytes=${brokenAt}-${film.length - 1}`,
      '"film"',
      undefined,
    ]);
  });

  test('continues after a second call without a usable answer', async () => {
    let refused = 0;
    breaksOnce((request, response) =>
      refused++ === 0 ? json(response, { error: { message: 'Busy' } }, 503) : serve(request, response),
    );
    const { bytes, record } = await download();
    expect(bytes?.equals(film)).toBe(true);
    expect(record.attempts.map(({ status, failure }) => [status, failure])).toEqual([
      [200, 'stream-broken'],
      [503, 'transient'],
      [206, null],
    ]);
  });

  test.each<[string, Serving | ((request: SeenRequest, response: ServerResponse) => void)]>([
    ['is another file by now', { headers: { etag: '"other"' } }],
    ['has another length by now', { bytes: film.subarray(0, film.length - 1) }],
    ['is somewhere else', { headers: { 'content-range': `bytes 0-${film.length - brokenAt - 1}/${film.length}` } }],
    ['comes whole', (request, response) => serve({ ...request, headers: {} }, response)],
    ['is gone', (_request, response) => json(response, { error: { message: 'Expired' } }, 404)],
  ])('breaks if the rest %s', async (_name, rest) => {
    breaksOnce((request, response) =>
      typeof rest === 'function' ? rest(request, response) : serveSo(rest, request, response),
    );
    const { bytes, record, asked } = await download();
    expect(bytes).toBeNull();
    expect(asked).toHaveLength(2);
    expect(record).toMatchObject({ outcome: 'stream-broken', bytesOut: brokenAt });
  });

  test.each<[string, Serving]>([
    ['whose name is a weak one', { headers: { etag: 'W/"film"' } }],
    ['that nothing names', { headers: { etag: undefined } }],
    ['of which no part can be had', { headers: { 'accept-ranges': 'none' } }],
    ['that is packed', { headers: { 'content-encoding': 'x-packed' } }],
  ])('%s breaks as it is', async (_name, first) => {
    breaksOnce(serve, first);
    const { record, asked } = await download();
    expect(asked).toHaveLength(1);
    expect(record).toMatchObject({ outcome: 'stream-broken', attempts: [{ failure: 'stream-broken' }] });
  });

  test.each([{ rescue: 'off' }, { retries: 0 }])('breaks as it is with the policy %o', async (policy) => {
    await gateway.stop();
    await upstream.stop();
    await start(policy);
    breaksOnce(serve);
    const { bytes, asked } = await download();
    expect([bytes, asked.length]).toEqual([null, 1]);
  });
});

test('a film that waits for its client continues too, and nothing in transit is lost', async () => {
  breaksOnce(serve);
  const response = await gateway.fetch(path);
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body ?? []) {
    // The reader is slower than the break.
    if (pieces.length === 0) await eventually(() => upstream.seen.length > 2);
    pieces.push(piece);
  }
  expect(Buffer.concat(pieces).equals(film)).toBe(true);
});
