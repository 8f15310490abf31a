/** Models whose names have slashes, in the paths of the clients' APIs and of the providers'. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { bedrockKey } from '../../support/strict-bedrock.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
const model = 'openai/gpt-5';
const vertexBase = '/v1/projects/p1/locations/us-east5';

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => json(response, { error: { message: 'seen' } }));
  const provider = (dialect: 'openai' | 'azure' | 'gemini' | 'bedrock' | 'vertex', path: string) => ({
    id: dialect,
    dialect,
    baseUrl: upstream.origin + path,
    credentials: [{ id: 'c1' }],
    models: ['*'],
  });
  gateway = await startGateway({
    config: {
      groups: [{ id: 'default', policy: { retries: 0, fallbacks: 0 } }],
      providers: [
        provider('openai', '/v1'),
        provider('azure', ''),
        provider('gemini', '/v1beta'),
        provider('bedrock', ''),
        provider('vertex', vertexBase),
      ],
      aliases: ['azure', 'gemini', 'bedrock', 'vertex'].map((id) => ({
        name: `at-${id}`,
        targets: [{ provider: id, model }],
      })),
    },
    secrets: {
      'provider/openai/c1': 'upstream-secret',
      'provider/azure/c1': 'upstream-secret',
      'provider/gemini/c1': 'upstream-secret',
      'provider/bedrock/c1': bedrockKey,
      'provider/vertex/c1': 'ya29.test',
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
});

async function post(path: string, body: object) {
  const headers = { 'content-type': 'application/json', 'x-goog-api-key': testKey, 'api-key': testKey };
  await (await fetch(gateway.origin + path, { method: 'POST', headers, body: JSON.stringify(body) })).text();
  const seen = upstream.seen.at(-1);
  return { url: seen?.url, model: seen && seen.body.length > 0 ? JSON.parse(seen.body.toString()).model : undefined };
}

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
const messages = [{ role: 'user', content: 'Hi' }];

describe('a client’s path with the model openai%2Fgpt-5', () => {
  test.each<[string, object, string]>([
    ['/v1beta/models/MODEL:generateContent', { contents }, '/v1/chat/completions'],
    ['/v1beta/models/MODEL:streamGenerateContent?alt=sse', { contents }, '/v1/chat/completions'],
    ['/v1beta/models/MODEL:embedContent', { content: contents[0] }, '/v1/embeddings'],
    ['/v1beta/models/MODEL:batchEmbedContents', { requests: [{ content: contents[0] }] }, '/v1/embeddings'],
    ['/openai/deployments/MODEL/chat/completions', { messages }, '/v1/chat/completions'],
    ['/openai/deployments/MODEL/completions', { prompt: 'Hi' }, '/v1/completions'],
    ['/openai/deployments/MODEL/embeddings', { input: 'Hi' }, '/v1/embeddings'],
    ['/openai/deployments/MODEL/responses', { input: 'Hi' }, '/v1/responses'],
    ['/openai/deployments/MODEL/images/generations', { prompt: 'Hi' }, '/v1/images/generations'],
    ['/openai/deployments/MODEL/audio/speech', { input: 'Hi', voice: 'alloy' }, '/v1/audio/speech'],
  ])('asks for it: %s', async (path, body, url) => {
    for (const written of ['openai%2Fopenai%2Fgpt-5', 'openai%2fopenai/gpt-5', 'openai/openai/gpt-5']) {
      expect(await post(path.replace('MODEL', written), body), written).toEqual({ url, model });
    }
  });

  test('is found in the list of models', async () => {
    const headers = { authorization: `Bearer ${testKey}`, 'x-goog-api-key': testKey };
    for (const path of ['/v1/models/at-gemini', '/v1beta/models/at%2Dgemini']) {
      expect((await fetch(gateway.origin + path, { headers })).status).toBe(200);
    }
  });

  test('is a tuned model of Gemini’s', async () => {
    const asked = await post('/v1beta/tunedModels/team%2Fmine:generateContent', { contents });
    expect(asked).toEqual({ url: '/v1/chat/completions', model: 'tunedModels/team/mine' });
  });
});

describe('a provider’s path', () => {
  test.each<[string, string, object, RegExp]>([
    ['azure', '/v1/chat/completions', { messages }, /^\/openai\/deployments\/openai%2Fgpt-5\/chat\/completions\?/],
    ['azure', '/v1/embeddings', { input: 'Hi' }, /^\/openai\/deployments\/openai%2Fgpt-5\/embeddings\?/],
    ['gemini', '/v1/chat/completions', { messages }, /^\/v1beta\/models\/openai%2Fgpt-5:generateContent$/],
    ['bedrock', '/v1/chat/completions', { messages }, /^\/model\/openai%2Fgpt-5\/(?:invoke|converse)$/],
    ['bedrock', '/v1/messages', { messages, max_tokens: 9 }, /^\/model\/openai%2Fgpt-5\/(?:invoke|converse)$/],
    ['vertex', '/v1/chat/completions', { messages }, /openai%2Fgpt-5|\/endpoints\/openapi\/chat\/completions$/],
  ])('of %s has the model’s name as one segment: %s', async (id, path, body, expected) => {
    const { url } = await post(path, { model: `at-${id}`, ...body });
    expect(url).toMatch(expected);
  });
});
