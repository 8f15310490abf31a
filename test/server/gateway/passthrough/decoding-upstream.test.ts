/**
 * Upstreams that decode a path before they route it, as Starlette (FastAPI, and so LiteLLM and vLLM) does, and that trim,
 * normalise and cut it besides: what Sluice takes for the name of nothing must not become another group's object there.
 */
import http from 'node:http';
import { posix } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { servedApis } from '../../../../server/apis/registry.ts';
import { hashOf, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { stopAfterEach } from '../../../support/stop-after-each.ts';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../../../support/upstream.ts';

const ownerKey = 'sk-of-the-owner-of-objects';
const strangerKey = 'sk-of-somebody-in-another-group';
const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let gateway: TestGateway;

/** Reads a path in the most generous way. */
function readGenerously(url: string): string {
  let path = url.replace(/[?#].*$/s, '');
  for (let round = 0; round < 3; round++) path = Buffer.from(unescape(path), 'latin1').toString();
  const segments = path
    .replaceAll('\\', '/')
    .split('/')
    .map((segment) =>
      segment
        .replace(/[?#;].*$/s, '')
        .normalize('NFKC')
        .replaceAll(/[\p{C}\p{Z}\ufffd]/gu, ''),
    );
  return posix.normalize(segments.join('/')).replace(/(.)\/$/, '$1');
}

const secret = 'what the owner has stored';

/** Stores objects of these ids, and tells the owner's secret for each path that leads to one of them. */
const generousService: Script = ({ method, url }, response) => {
  const path = readGenerously(url);
  if (method === 'POST' && /\/(?:files|batches|videos|responses|threads)$/.test(path)) {
    const kind = path.split('/').at(-1) ?? '';
    json(response, { id: `${kind}-Abc1`, object: kind.slice(0, -1), status: 'completed', output: [] });
  } else json(response, path.includes('-Abc1') || path.endsWith('/runs') ? { secret } : {});
};

beforeEach(async () => {
  upstream = await stopLater(startUpstream(generousService));
  const provider = (id: 'openai' | 'anthropic' | 'gemini', path: string) => ({
    id,
    dialect: id,
    baseUrl: upstream.origin + path,
    credentials: [{ id: 'c1' }],
    models: ['*'],
  });
  const groups = ['openai', 'anthropic', 'gemini'].flatMap((id) => [
    { id: `${id}-owner`, providers: [id], passthrough: id },
    { id: `${id}-stranger`, providers: [id], passthrough: id },
  ]);
  gateway = await stopLater(
    startGateway({
      config: {
        providers: [provider('openai', '/v1'), provider('anthropic', '/v1'), provider('gemini', '/v1beta')],
        groups,
        keys: groups.map(({ id }) => ({ id, group: id, hash: hashOf(keyOf(id)) })),
      },
      secrets: {
        'provider/openai/c1': 'upstream-secret',
        'provider/anthropic/c1': 'upstream-secret',
        'provider/gemini/c1': 'upstream-secret',
      },
    }),
  );
});

const keyOf = (group: string) => `${group.endsWith('owner') ? ownerKey : strangerKey}-${group.split('-')[0]}`;

interface Sent {
  method?: string;
  path: string;
  group: string;
}

/** Sends the path as it is written, which `fetch` would not. */
function send({ method = 'GET', path, group }: Sent): Promise<{ status: number; text: string }> {
  const api = group.split('-')[0];
  const headers = {
    ...(api === 'gemini' ? { 'x-goog-api-key': keyOf(group) } : { authorization: `Bearer ${keyOf(group)}` }),
    ...(api === 'anthropic' && { 'anthropic-version': '2023-06-01' }),
    ...(method === 'GET' || method === 'HEAD' || method === 'DELETE' ? {} : { 'content-type': 'application/json' }),
  };
  return new Promise((resolve, reject) => {
    const { port } = new URL(gateway.origin);
    const request = http.request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    request.on('error', reject);
    request.end('content-type' in headers ? '{}' : undefined);
  });
}

/** Spellings that some server reads as `ID`, or as what is below it. */
const spellings = [
  'ID%2F',
  'ID%2f',
  'ID%2Fcontent',
  'ID%5C',
  'ID\\',
  'ID%3Fx',
  'ID%23x',
  'ID#x',
  'ID%3Bx',
  'ID;x',
  'ID%20',
  '%20ID',
  'ID%09',
  'ID%0A',
  'ID%00',
  'ID%7F',
  'ID%C2%85',
  'ID%C2%A0',
  'ID%C2%AD',
  'ID%E2%80%8B',
  'ID%EF%BB%BF',
  'ID%ad',
  'ID%c0%af',
  'ID%e0%80%af',
  'ID%ff',
  'ID%25',
  'ID%252F',
  'ID%25%32%46',
  'x%2F..%2FID',
  '%2e%2e%2FPARENT%2FID',
  '%2e',
  '%2e%2e',
  '.%2e',
  '..',
  '.',
  '.;',
  '..;x',
  '%2e%2e%3b',
  '%EF%BC%A1bc',
  'ID%EF%BC%8Fcontent',
  'ID%EF%BC%8E',
  'ID%',
  'ID%2',
  'ID%zz',
];

const services = [
  { api: 'openai', parent: '/v1/files', id: 'files-Abc1', methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] },
  {
    api: 'openai',
    parent: '/v1/threads',
    id: 'threads-Abc1',
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  },
  { api: 'openai', parent: '/openai/v1/files', id: 'files-Abc1', methods: ['GET', 'DELETE'] },
  { api: 'anthropic', parent: '/v1/files', id: 'files-Abc1', methods: ['GET', 'HEAD', 'POST', 'DELETE'] },
  { api: 'anthropic', parent: '/v1/messages/batches', id: 'batches-Abc1', methods: ['GET', 'HEAD', 'POST', 'DELETE'] },
  { api: 'gemini', parent: '/v1beta/files', id: 'files-Abc1', methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'] },
];

const shapes: Record<string, object> = {
  openai: { error: { type: 'invalid_request_error', message: expect.any(String) } },
  anthropic: { type: 'error', error: { type: 'invalid_request_error', message: expect.any(String) } },
  gemini: { error: { code: 400, status: 'INVALID_ARGUMENT', message: expect.any(String) } },
};

describe.each(services)('another group’s object of $api below $parent', ({ api, parent, id, methods }) => {
  test('is reached by no other spelling of its id, with no method', async () => {
    const made = await send({ method: 'POST', path: parent, group: `${api}-owner` });
    expect(JSON.parse(made.text)).toMatchObject({ id });
    const before = upstream.seen.length;
    for (const method of methods) {
      for (const spelling of spellings) {
        const segment = spelling.replaceAll('ID', id).replace('PARENT', parent.split('/').at(-1) ?? '');
        for (const path of [`${parent}/${segment}`, `${parent}/${segment}/content`, `${parent}/x/${segment}`]) {
          const told = await send({ method, path, group: `${api}-stranger` });
          expect([400, 404], `${method} ${path}`).toContain(told.status);
          if (path === `${parent}/${segment}` && method !== 'HEAD') {
            expect(told.status, `${method} ${path}`).toBe(400);
            expect(JSON.parse(told.text)).toMatchObject(shapes[api] ?? {});
          }
        }
      }
    }
    expect(upstream.seen.slice(before).map(({ method, url }) => `${method} ${url}`)).toEqual([]);
  });

  test('stays within reach of its own group', async () => {
    await send({ method: 'POST', path: parent, group: `${api}-owner` });
    const told = await send({ path: `${parent}/${id}`, group: `${api}-owner` });
    expect(told).toEqual({ status: 200, text: JSON.stringify({ secret }) });
    expect((await send({ path: `${parent}/${id.replace('-', '%2D')}`, group: `${api}-stranger` })).status).toBe(404);
  });
});

describe('an action that is spelled in escapes', () => {
  test.each([
    '/v1/threads/threads-Abc1%2Fruns',
    '/v1/threads/%72uns',
    '/v1/threads/threads-Abc1/%72uns',
    '/v1/chat/%63ompletions',
    '/v1/%66iles',
  ])('is not passed on: %s', async (path) => {
    expect((await send({ method: 'POST', path, group: 'openai-stranger' })).status).toBe(400);
    expect(upstream.seen).toEqual([]);
  });

  test('is read for a file of Gemini’s API as its server would read it', async () => {
    await send({ method: 'POST', path: '/v1beta/files', group: 'gemini-owner' });
    const path = '/v1beta/files/files-Abc1%3Adownload';
    expect((await send({ path, group: 'gemini-stranger' })).status).toBe(404);
    expect(upstream.seen).toHaveLength(1);
    expect((await send({ path, group: 'gemini-owner' })).status).toBe(200);
  });
});

/** Routes of Sluice's own whose path names an object. */
const ownRoutes = servedApis.flatMap(({ base, routes }) =>
  routes
    .filter(({ path, modelIn }) => /\/:(?!model)/.test(path) && modelIn === 'body')
    .map((route) => ({ base, route })),
);

describe.each(ownRoutes.map(({ base, route: { method, path } }) => ({ method, path: base + path })))(
  'the route $method $path',
  ({ method, path }) => {
    test('asks no upstream for a spelling of another group’s id', async () => {
      for (const kind of ['videos', 'responses']) {
        await send({ method: 'POST', path: `/v1/${kind}`, group: 'openai-owner' });
        for (const spelling of spellings) {
          const id = spelling.replaceAll('ID', `${kind}-Abc1`).replace('PARENT', kind);
          const before = upstream.seen.length;
          const told = await send({ method, path: path.replace(/:\w+/, id), group: 'openai-stranger' });
          // A dot segment or a slash can make it the path of something else, which is not passed on either.
          expect([400, 404], `${method} ${id}`).toContain(told.status);
          expect(upstream.seen.slice(before)).toEqual([]);
        }
      }
    });
  },
);

test('a query is not a path', async () => {
  const path = '/v1/files?after=a/b%2Fc%3F%23%00&limit=%20..';
  expect((await send({ path, group: 'openai-owner' })).status).toBe(200);
  expect(upstream.seen.at(-1)?.url).toBe(path);
});

test.each(['ft%3Agpt-4o%3Aacme%3A%3A1', 'user%40example', 'a%2Bb%3D%3D', 'caf%C3%A9-1'])(
  'an id that SDKs encode is passed on as it came: %s',
  async (id) => {
    expect((await send({ path: `/v1/vector_stores/${id}`, group: 'openai-owner' })).status).toBe(200);
    expect(upstream.seen.at(-1)?.url).toBe(`/v1/vector_stores/${id}`);
  },
);
