import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { geminiDialect } from '../../../server/apis/gemini/provider/dialect.ts';
import { fetchModelList } from '../../../server/providers/list-models.ts';
import { probeProvider } from '../../../server/providers/probe.ts';
import { createTransport } from '../../../server/transport/create-transport.ts';
import type { Transport } from '../../../server/transport/transport.ts';
import { compiledProvider } from '../../support/providers.ts';
import { geminiKey, sendGoogleError, sendWrongKey } from '../../support/strict-gemini.ts';
import { json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';

const addressOf = (path: string, { basePath = '/v1beta', query = '', model = 'gemini-3-pro' } = {}) =>
  geminiDialect.address({ origin: 'https://example.com', basePath, apiVersion: undefined }, path, query, model);
const generate = '/models/{model}:generateContent';

test.each([
  ['/v1beta/models/gemini-3-pro:generateContent', addressOf(generate)],
  ['/v1beta/models/gemini-3-pro:generateContent', addressOf(generate, { basePath: '' })],
  ['/google/v1/models/gemini-3-pro:generateContent', addressOf(generate, { basePath: '/google/v1' })],
  ['/v1beta/models/gemini-3-pro:generateContent?fields=a', addressOf(generate, { query: '?fields=a' })],
  [
    '/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse&fields=a',
    addressOf('/models/{model}:streamGenerateContent?alt=sse', { query: '?fields=a' }),
  ],
  ['/v1beta/models/a%2F..%2Fb%3F:generateContent', addressOf(generate, { model: 'a/../b?' })],
  ['/v1beta/models/x:generateContent', addressOf(generate, { model: 'models/x' })],
  ['/v1beta/tunedModels/mine:generateContent', addressOf(generate, { model: 'tunedModels/mine' })],
  ['/v1beta/models?pageSize=1000', addressOf('/models', { query: '?pageSize=1000' })],
])('its address is %s', (expected, address) => expect(address).toBe(expected));

test('a provider that was made of its imitation of OpenAI’s API is asked as before', () => {
  const baseUrl = 'https://generativelanguage.googleapis.com/v1beta/openai';
  const { dialect, endpoint, credentials } = compiledProvider({ preset: 'gemini', baseUrl }, geminiKey);
  expect(dialect.address(endpoint, '/chat/completions', '', 'x')).toBe('/v1beta/openai/chat/completions');
  expect(credentials[0]?.headers).toEqual({ authorization: `Bearer ${geminiKey}` });
});

test('it serves its own API alone', () => {
  const wires = ['gemini-generate', 'gemini-embeddings', 'openai-chat', 'anthropic-messages'];
  expect(wires.map((wire) => geminiDialect.serves(wire))).toEqual([true, true, false, false]);
});

describe('its models', () => {
  let upstream: ScriptedUpstream;
  let transport: Transport;

  beforeEach(async () => {
    upstream = await startUpstream(list);
    transport = createTransport();
  });
  afterEach(async () => {
    await transport.close();
    await upstream.stop();
  });

  const entry = (name: string, verb: string) => ({
    name: `models/${name}`,
    displayName: name,
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: [verb, 'countTokens'],
  });

  function list(request: SeenRequest, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url, upstream.origin);
    if (request.headers['x-goog-api-key'] !== geminiKey) sendWrongKey(response);
    else if (pathname !== '/v1beta/models') sendGoogleError(response, 404, 'NOT_FOUND', 'Not found');
    else if (searchParams.get('pageToken') === 'a b')
      json(response, { models: [entry('gemini-embedding-2', 'embedContent')] });
    else {
      const models = [entry('gemini-3-pro', 'generateContent'), entry('veo-3', 'predictLongRunning')];
      json(response, { models, nextPageToken: 'a b' });
    }
  }

  const provider = (key = geminiKey, baseUrl = `${upstream.origin}/v1beta`) =>
    compiledProvider({ baseUrl, dialect: 'gemini' }, key);

  test('are asked for page by page, with their sizes, without those that nothing here can ask', async () => {
    const listed = await fetchModelList(provider(), transport);
    const info = { created: 0, ownedBy: 'main', contextTokens: 1_048_576 };
    expect('models' in listed && [...listed.models]).toEqual([
      ['gemini-3-pro', info],
      ['gemini-embedding-2', info],
    ]);
    expect(upstream.seen.map(({ url }) => url)).toEqual([
      '/v1beta/models?pageSize=1000',
      '/v1beta/models?pageSize=1000&pageToken=a%20b',
    ]);
  });

  test('show a probe that the provider can be used, whether or not its address has the version', async () => {
    for (const baseUrl of [upstream.origin, `${upstream.origin}/v1beta`]) {
      expect((await probeProvider(provider(geminiKey, baseUrl), { transport })).ok).toBe(true);
    }
  });

  test('tell a probe which step fails', async () => {
    const refused = await probeProvider(provider('wrong'), { transport });
    expect([refused.ok, refused.failedAt]).toEqual([false, 'credential']);
    const lost = await probeProvider(provider(geminiKey, `${upstream.origin}/elsewhere`), { transport });
    expect(lost.failedAt).toBe('base-url');
  });
});
