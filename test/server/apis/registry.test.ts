import { describe, expect, test } from 'vitest';
import { decodeSegment } from '../../../server/apis/core/requests/segments.ts';
import { openaiApi, openaiRoutes } from '../../../server/apis/openai/routes.ts';
import { Registry, servedApis } from '../../../server/apis/registry.ts';
import { findRoute } from '../../support/routes.ts';

const registry = new Registry([openaiApi]);

test.each([
  ['/v1/models', '/models', ''],
  ['/v1/models/?a=b?c', '/models', '?a=b?c'],
  ['/v1/v1/v1/chat/completions', '/chat/completions', ''],
  ['/v1', '', ''],
  ['/v1?x', '', '?x'],
  ['/v1/', '/', ''],
  ['/v1/v1beta/models', '/v1beta/models', ''],
  ['/v1/videos/a%2Fb/content?variant=%5B', '/videos/a%2Fb/content', '?variant=%5B'],
])('the URL %s has the path %j and the query %j', (url, path, query) => {
  expect(registry.locate(url)).toMatchObject({ path, query, isKnown: true });
});

test.each([
  ['anthropic', { authorization: 'Bearer k', 'anthropic-version': '2023-06-01' }],
  ['anthropic', { authorization: 'Bearer k', 'anthropic-beta': 'skills-2025-10-02' }],
  ['anthropic', { 'x-api-key': 'k', 'anthropic-beta': 'files-api-2025-04-14' }],
  ['gemini', { 'x-goog-api-key': 'k' }],
  ['gemini', { authorization: 'Bearer k', 'x-goog-api-client': 'genai' }],
  ['gemini', { authorization: 'Bearer k', 'x-goog-user-project': 'p' }],
  ['openai', { authorization: 'Bearer k', 'openai-organization': 'o' }],
])('a path that several APIs have is that of %s for a request with %j', (api, headers) => {
  const all = new Registry(servedApis);
  for (const url of ['/v1/files', '/v1/skills/a', '/v1/agents', '/v1/batches'])
    expect(all.locate(url, headers).api.name, url).toBe(api);
});

test('no header changes the API of a URL for which one of the APIs has a route', () => {
  const all = new Registry(servedApis);
  const headers = { 'anthropic-version': '2023-06-01', 'x-goog-api-client': 'genai' };
  const urls = servedApis
    .flatMap(({ base, routes }) => routes.map(({ path }) => base + path))
    .filter((url) => !/[?:]/.test(url));
  const askedInFull = (url: string) => all.locate(`${url}?a=b`, headers);
  for (const url of urls) expect(all.locate(url, headers).api, url).toBe(askedInFull(url).api);
  for (const url of urls) expect(all.locate(url, headers).path, url).toBe(askedInFull(url).path);
});

describe('a route', () => {
  test.each(openaiRoutes.map((route) => [route.method, route.path, route] as const))(
    'is found for %s %s',
    (method, path, route) => {
      const match = findRoute(method, path.replace(':id', 'a%2Fb'));
      expect(match).toMatchObject({ route, model: null, id: path.includes(':id') ? 'a/b' : null });
    },
  );

  test('of GET serves HEAD too', () => {
    expect(findRoute('HEAD', '/videos/video_1/content').route.method).toBe('GET');
  });

  test.each(['', '/', '/deployments/gpt-x/nothing', '/videos//content', '/:id', '/__proto__'])(
    'is not found for %j',
    (path) => expect(() => findRoute('GET', path)).toThrow(expect.objectContaining({ code: 'unknown_url' })),
  );

  test('under another method names the allowed ones, where nobody takes it as it is', () => {
    expect(findRoute('PUT', '/videos/video_1').passthrough?.unserved).toEqual({
      code: 'method_not_allowed',
      message: 'Not allowed to PUT on /v1/videos/video_1. Allowed: GET, DELETE.',
    });
    expect(() => findRoute('TRACE', '/videos/video_1')).toThrow(/Allowed: GET, DELETE\./);
  });

  test.each([
    ['GET', '/chat', '/v1/chat', [], null],
    ['GET', '/videos/a/b', '/v1/videos/a/b', ['a', 'b'], null],
    ['DELETE', '/files/file%2D1', '/v1/files/{id}', ['file-1'], 'file-1'],
    [
      'GET',
      '/fine_tuning/jobs/ftjob-1/events',
      '/v1/fine_tuning/jobs/{id}/events',
      ['jobs', 'ftjob-1', 'events'],
      'ftjob-1',
    ],
    ['DELETE', '/vector_stores/vs_1/files/f1', '/v1/vector_stores/{id}/files/{id}', ['vs_1', 'files', 'f1'], null],
  ])('is not needed for what one provider knows: %s %s', (method, path, label, names, onlyId) => {
    expect(findRoute(method, path)).toMatchObject({ label, id: null, passthrough: { names, onlyId } });
  });

  test('named like an id is the route and not the id', () => {
    expect(findRoute('POST', '/responses/compact').id).toBeNull();
  });
});

test.each([
  ['a%2Fb%20c', 'a/b c'],
  ['100%', '100%'],
  ['%zz', '%zz'],
  ['%E0%A4%A', '%E0%A4%A'],
])('the segment %s stands for %s', (segment, id) => expect(decodeSegment(segment)).toBe(id));
