import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { memoryInUse } from '../../support/cpu-work.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';

const film = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 31) % 251));

let upstream: ScriptedUpstream;
/** An origin other than the provider's. */
let elsewhere: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  elsewhere = await startUpstream();
  gateway = await startGateway({
    config: { providers: [mainProvider(upstream.baseUrl, { headers: { 'x-team': 'team-secret' } })] },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  await elsewhere.stop();
});

function serveRange(request: SeenRequest, response: Parameters<typeof json>[0]): void {
  const headers = { 'content-type': 'video/mp4', 'accept-ranges': 'bytes', etag: '"film"' };
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  if (!range) {
    response.writeHead(200, { ...headers, 'content-length': film.length });
    response.end(request.method === 'HEAD' ? undefined : film);
    return;
  }
  const start = Number(range[1]);
  const end = range[2] ? Number(range[2]) : film.length - 1;
  if (start >= film.length) {
    response.writeHead(416, { ...headers, 'content-range': `bytes */${film.length}` }).end();
    return;
  }
  response.writeHead(206, { ...headers, 'content-range': `bytes ${start}-${end}/${film.length}` });
  response.end(film.subarray(start, end + 1));
}

/** Creates a video that belongs to the group. */
async function makeVideo(): Promise<string> {
  upstream.answer((_request, response) => json(response, { id: 'video_1', object: 'video', status: 'completed' }));
  await gateway.client.videos.create({ prompt: 'A cat', seconds: '4' });
  return '/videos/video_1/content';
}

describe('video content', () => {
  let path: string;
  beforeEach(async () => {
    path = await makeVideo();
    upstream.answer(serveRange);
  });

  test('comes whole', async () => {
    const response = await gateway.fetch(path);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': String(film.length),
      'accept-ranges': 'bytes',
      etag: '"film"',
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(film)).toBe(true);
  });

  test('is sent in the requested range', async () => {
    const response = await gateway.fetch(path, { headers: { range: 'bytes=10-19', 'if-range': '"film"' } });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes 10-19/${film.length}`);
    expect(Buffer.from(await response.arrayBuffer()).equals(film.subarray(10, 20))).toBe(true);
    expect(upstream.seen.at(-1)?.headers['if-range']).toBe('"film"');
  });

  test('is refused with 416 past its end', async () => {
    const response = await gateway.fetch(path, { headers: { range: 'bytes=999999-' } });
    expect([response.status, response.headers.get('content-range')]).toEqual([416, `bytes */${film.length}`]);
    expect(await response.text()).toBe('');
  });

  test('has its length in the answer to HEAD', async () => {
    const response = await gateway.fetch(path, { method: 'HEAD' });
    expect([response.status, response.headers.get('content-length')]).toEqual([200, String(film.length)]);
    expect(await response.text()).toBe('');
    expect(upstream.seen.at(-1)?.method).toBe('HEAD');
    const record = await gateway.record(response.headers.get('x-request-id') ?? '');
    expect(record).toMatchObject({ method: 'HEAD', route: '/v1/videos/{id}/content', outcome: 'ok' });
  });

  test('is requested in the variant that the client asks for', async () => {
    await (await gateway.fetch(`${path}?variant=spritesheet`)).arrayBuffer();
    expect(upstream.seen.at(-1)?.url).toBe('/v1/videos/video_1/content?variant=spritesheet');
  });

  test('that is not ready is the upstream’s own error', async () => {
    upstream.answer((_request, response) => json(response, { error: { message: 'Not ready' } }, 404));
    const response = await gateway.fetch(path);
    expect([response.status, await response.json()]).toEqual([404, { error: { message: 'Not ready' } }]);
  });

  test('counts for nothing, the video was counted when it was made', async () => {
    const response = await gateway.fetch(path);
    await response.arrayBuffer();
    const record = await gateway.record(response.headers.get('x-request-id') ?? '');
    expect(record).toMatchObject({ outcome: 'ok', usage: null, usageCertainty: 'none', bytesOut: film.length });
  });
});

describe('video content that is elsewhere', () => {
  let path: string;
  const redirect = (location: string, status = 302) =>
    upstream.answer((request, response) => {
      if (request.url?.startsWith('/v1/')) response.writeHead(status, { location }).end('moved');
      else serveRange(request, response);
    });
  beforeEach(async () => {
    path = await makeVideo();
  });

  test.each([301, 302, 303, 307, 308])('is fetched from where a %i leads, without any credential', async (status) => {
    redirect('/storage/film.mp4?signature=abc', status);
    const response = await gateway.fetch(path, { headers: { range: 'bytes=5-9', 'openai-beta': 'x' } });
    expect([response.status, response.headers.get('content-type')]).toEqual([206, 'video/mp4']);
    expect(Buffer.from(await response.arrayBuffer()).equals(film.subarray(5, 10))).toBe(true);
    const seen = upstream.seen.at(-1);
    expect([seen?.method, seen?.url, seen?.headers.range]).toEqual([
      'GET',
      '/storage/film.mp4?signature=abc',
      'bytes=5-9',
    ]);
    expect(JSON.stringify(seen?.headers)).not.toMatch(/authorization|secret|sluice|beta/);
    const record = await gateway.record(response.headers.get('x-request-id') ?? '');
    expect(record).toMatchObject({ outcome: 'ok', status: 206, attempts: [{ status: 206 }] });
  });

  test('is followed three times and no further', async () => {
    const hops = (left: number) =>
      upstream.answer((request, response) => {
        const hop = Number(/hop(\d+)/.exec(request.url)?.[1] ?? 0);
        if (hop === left) serveRange(request, response);
        else response.writeHead(302, { location: `${upstream.origin}/hop${hop + 1}` }).end();
      });
    hops(3);
    expect((await gateway.fetch(path)).status).toBe(200);
    hops(4);
    const response = await gateway.fetch(path);
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_redirected' } });
    expect(upstream.seen.at(-1)?.url).toBe('/hop3');
  });

  test('is not fetched over plain HTTP from another origin', async () => {
    redirect(`${elsewhere.origin}/film.mp4?signature=abc`);
    const response = await gateway.fetch(path);
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([502, 'false']);
    const text = await response.text();
    expect(text).toContain(`${elsewhere.origin}/film.mp4`);
    expect(text).not.toContain('signature');
    expect(elsewhere.seen).toEqual([]);
  });

  test.each(['file:///etc/passwd', 'http://', 'ftp://example.com/x', '//[', 'https://user:pass@127.0.0.1:1/x'])(
    'is not fetched from %s',
    async (location) => {
      redirect(location);
      const response = await gateway.fetch(path);
      const text = await response.text();
      expect([response.status, text.includes('upstream_redirected'), text.includes('pass@')]).toEqual([
        502,
        true,
        false,
      ]);
    },
  );
});

test.each(['/chat/completions', '/audio/speech', '/responses'])('a redirect of %s is not followed', async (path) => {
  const before = elsewhere.seen.length;
  upstream.answer((_request, response) => {
    response.writeHead(307, { location: `${upstream.origin}/other?secret=1` }).end();
  });
  const count = upstream.seen.length;
  const response = await gateway.fetch(path, { method: 'POST', body: '{"model":"gpt-x"}' });
  expect([response.status, response.headers.get('x-should-retry')]).toEqual([502, 'false']);
  expect(await response.json()).toMatchObject({ error: { type: 'server_error', code: 'upstream_redirected' } });
  expect([upstream.seen.length, elsewhere.seen.length]).toEqual([count + 1, before]);
});

describe('speech', () => {
  test.each(['audio/mpeg', 'audio/wav', 'audio/pcm', 'audio/opus', 'application/octet-stream'])(
    'keeps the content type %s',
    async (type) => {
      upstream.answer((_request, response) => void response.writeHead(200, { 'content-type': type }).end(film));
      const speech = await gateway.client.audio.speech.create({
        model: 'gpt-x',
        input: 'äöü \u{1F30D}',
        voice: 'alloy',
      });
      expect(speech.headers.get('content-type')).toBe(type);
      expect(Buffer.from(await speech.arrayBuffer()).equals(film)).toBe(true);
      const record = await gateway.record(speech.headers.get('x-request-id') ?? '');
      expect(record).toMatchObject({ usage: { characters: 5 }, usageCertainty: 'estimated' });
    },
  );

  test('that fails is JSON with its status, not audio', async () => {
    upstream.answer((_request, response) =>
      json(response, { error: { message: 'no voice', code: 'invalid_value' } }, 400),
    );
    const asked = gateway.client.audio.speech.create({ model: 'gpt-x', input: 'a', voice: 'nobody' });
    await expect(asked).rejects.toMatchObject({ status: 400, code: 'invalid_value' });
  });

  test('with a broken string beside its text is left to the upstream to refuse, and counts no characters', async () => {
    upstream.answer((_request, response) => void response.writeHead(200, { 'content-type': 'audio/wav' }).end(film));
    const response = await gateway.fetch('/audio/speech', {
      method: 'POST',
      body: '{"model":"gpt-x","input":"\\uZZZZ"}',
    });
    await response.arrayBuffer();
    expect([200, 400]).toContain(response.status);
    const record = await gateway.record(response.headers.get('x-request-id') ?? '');
    expect(record.usage).toBeNull();
  });
});

const tenMegabytes = 10 * 1024 * 1024;

test('100 MB pass through without being buffered', async () => {
  const piece = Buffer.alloc(256 * 1024, 'sluice');
  const pieces = 400;
  upstream.answer(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'audio/wav' });
    for (let count = 0; count < pieces; count++) {
      if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve));
    }
    response.end();
  });
  const response = await gateway.fetch('/audio/speech', { method: 'POST', body: '{"model":"gpt-x"}' });
  let size = 0;
  const looks: number[] = [];
  for await (const part of response.body ?? []) {
    const isTenMegabytesOn = Math.floor((size + part.length) / tenMegabytes) > Math.floor(size / tenMegabytes);
    if (isTenMegabytesOn) looks.push(memoryInUse().arrayBuffers);
    size += part.length;
  }
  expect(size).toBe(pieces * piece.length);
  // Freed memory is counted a little later, so a single measurement may be too high. Memory that is really retained
  // shows in all of them.
  expect(looks).toHaveLength(10);
  expect(Math.min(...looks.slice(-4))).toBeLessThan(size / 2);
});
