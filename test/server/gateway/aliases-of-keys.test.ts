/** Aliases of one key alone: wherever a client names a model, in whichever API. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hashOf, startGateway, type TestGateway } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { completion } from './two-upstreams.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => json(response, completion()));
  const provider = (id: string) => ({
    ...{ id, baseUrl: `${upstream.origin}/${id}/v1`, credentials: [{ id: 'c1' }], models: ['gpt-x'] },
  });
  gateway = await startGateway({
    config: {
      providers: [provider('all'), provider('own')],
      aliases: [{ name: 'fast', targets: [{ provider: 'all', model: 'gpt-x' }] }],
      groups: [{ id: 'default', policy: { retries: 0, fallbacks: 0 }, cache: { forced: true } }],
      keys: [
        { id: 'plain', group: 'default', hash: hashOf('sk-plain') },
        {
          ...{ id: 'own', group: 'default', hash: hashOf('sk-own') },
          aliases: ['fast', 'mine'].map((name) => ({ name, targets: [{ provider: 'own', model: 'gpt-x' }] })),
        },
      ],
    },
    secrets: { 'provider/all/c1': 'upstream-secret', 'provider/own/c1': 'upstream-secret' },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
});

async function call(secret: string, path: string, body?: object): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
  const response = await fetch(gateway.origin + path, {
    headers,
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  return new Response(await response.text(), response);
}

/** Which provider was asked. */
const asked = () => upstream.seen.map(({ url }) => url?.split('/')[1]);
const messages = [{ role: 'user', content: 'Hi' }];
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];

describe('a request goes where the alias of its key leads', () => {
  test.each<[string, object]>([
    ['/v1/chat/completions', { messages }],
    ['/v1/chat/completions', { messages, stream: true }],
    ['/v1/completions', { prompt: 'Hi' }],
    ['/v1/responses', { input: 'Hi' }],
    ['/v1/embeddings', { input: 'Hi' }],
    ['/v1/images/generations', { prompt: 'A cat' }],
    ['/v1/audio/speech', { input: 'Hi', voice: 'alloy' }],
    ['/v1/moderations', { input: 'Hi' }],
    ['/v1/messages', { messages, max_tokens: 9 }],
    ['/v1beta/models/fast:generateContent', { contents }],
    ['/v1beta/models/fast:streamGenerateContent', { contents }],
  ])('%s %j', async (path, body) => {
    const named = path.includes('fast') ? body : { model: 'fast', ...body };
    await call('sk-plain', path, named);
    await call('sk-own', path, named);
    expect(asked()).toEqual(['all', 'own']);
  });

  test('and is kept apart in the cache from the equal one of another key', async () => {
    const question = { model: 'fast', messages: [{ role: 'user', content: 'Why?' }] };
    const told = async (secret: string) =>
      (await call(secret, '/v1/chat/completions', question)).headers.get('x-sluice-cache');
    expect(await told('sk-plain')).toBe('miss');
    expect(await told('sk-own')).toBe('miss');
    expect([await told('sk-plain'), await told('sk-own')]).toEqual(['hit', 'hit']);
    expect(asked()).toEqual(['all', 'own']);
  });

  test('and the key lists them, while no other has them', async () => {
    const names = async (secret: string) => {
      const { data } = await (await call(secret, '/v1/models')).json();
      return data.map(({ id }: { id: string }) => id);
    };
    expect(await names('sk-plain')).toEqual(['fast', 'gpt-x']);
    expect(await names('sk-own')).toEqual(['fast', 'gpt-x', 'mine']);
    const refused = await call('sk-plain', '/v1/chat/completions', { model: 'mine', messages });
    expect(refused.status).toBe(404);
  });
});
