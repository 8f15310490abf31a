import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashOf, startGateway, type TestGateway } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

/** Each has its own upstream, which shows where a request went. */
const names = ['red', 'blue', 'green'] as const;
const upstreams = new Map<string, ScriptedUpstream>();
let gateway: TestGateway;

const secretOf = (key: string) => `sk-key-of-${key}-0123456789`;

beforeAll(async () => {
  for (const name of names) {
    upstreams.set(name, await startUpstream((_request, response) => json(response, { served: name })));
  }
  const baseUrl = (name: string) => upstreams.get(name)?.baseUrl ?? '';
  const key = (id: string, group: string, more = {}) => ({ id, group, hash: hashOf(secretOf(id)), ...more });
  gateway = await startGateway({
    config: {
      providers: [
        { id: 'red', baseUrl: baseUrl('red'), models: ['gpt-a', 'gpt-b', 'shared'] },
        { id: 'blue', baseUrl: baseUrl('blue'), models: ['claude-a', 'meta/llama', 'shared'] },
        { id: 'green', baseUrl: baseUrl('green'), models: ['hidden', '*'] },
        { id: 'off', baseUrl: baseUrl('green'), models: ['off-model'], enabled: false },
      ],
      aliases: [
        { name: 'fast', targets: [{ provider: 'red', model: 'gpt-b' }] },
        {
          name: 'mixed',
          targets: [
            { provider: 'blue', model: 'claude-a', priority: 0 },
            { provider: 'red', model: 'gpt-a', priority: 1 },
          ],
        },
        { name: 'gpt-a', targets: [{ provider: 'blue', model: 'claude-a' }] },
      ],
      groups: [
        { id: 'everything' },
        { id: 'gpt', models: ['gpt-*', 'fast'], deny: ['gpt-b'], providers: ['red'] },
        {
          id: 'blue-first',
          providers: ['red', 'blue'],
          order: [{ provider: 'blue' }, { provider: 'red', priority: 1 }],
        },
        { id: 'only-blue', providers: ['b*'] },
        { id: 'nothing', models: ['none-such'], providers: ['red'] },
        { id: 'dark', providers: ['off', 'red'] },
      ],
      keys: [
        key('all', 'everything'),
        key('narrow', 'everything', { models: ['claude-*', 'fast'] }),
        key('gpt', 'gpt'),
        key('wide', 'gpt', { models: ['*'] }),
        key('blue-first', 'blue-first'),
        key('only-blue', 'only-blue'),
        key('nothing', 'nothing'),
        key('dark', 'dark'),
      ],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  for (const upstream of upstreams.values()) await upstream.stop();
});

const client = (key: string) => new OpenAI({ baseURL: gateway.baseUrl, apiKey: secretOf(key), maxRetries: 0 });
const list = async (key: string) => (await client(key).models.list()).data.map((model) => model.id);

/** Resolves with the upstream that served the request and the model name there, or with the code of the refusal. */
async function call(key: string, model: string): Promise<string> {
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secretOf(key)}` },
    body: JSON.stringify({ model }),
  });
  const body = (await response.json()) as { served?: string; error?: { code: string } };
  if (!body.served) return `${response.status} ${body.error?.code}`;
  return `${body.served}: ${JSON.parse(upstreams.get(body.served)?.seen.at(-1)?.body.toString() ?? '').model}`;
}

async function retrieve(key: string, model: string): Promise<string> {
  try {
    return (await client(key).models.retrieve(model)).id;
  } catch (error) {
    return error instanceof OpenAI.APIError ? `${error.status} ${error.code}` : String(error);
  }
}

const refused = '404 model_not_found';

describe('the list of models of a key', () => {
  test.each([
    ['all', ['claude-a', 'fast', 'gpt-a', 'gpt-b', 'hidden', 'meta/llama', 'mixed', 'shared']],
    ['narrow', ['claude-a', 'fast']],
    // The alias `fast` means a model that the group bans.
    ['gpt', ['gpt-a']],
    ['wide', ['gpt-a']],
    ['only-blue', ['claude-a', 'gpt-a', 'meta/llama', 'mixed', 'shared']],
    ['nothing', []],
    ['dark', ['fast', 'gpt-a', 'gpt-b', 'mixed', 'shared']],
  ])('for the key "%s"', async (key, models) => {
    expect(await list(key)).toEqual(models);
  });

  test('contains only models that it may retrieve and call', async () => {
    for (const key of ['all', 'narrow', 'gpt', 'wide', 'blue-first', 'only-blue', 'dark']) {
      for (const model of await list(key)) {
        expect(await retrieve(key, model)).toBe(model);
        expect(await call(key, model)).toMatch(/^(red|blue|green): /);
      }
    }
  });
});

describe('the provider that answers', () => {
  test.each([
    ['all', 'gpt-b', 'red: gpt-b'],
    ['all', 'fast', 'red: gpt-b'],
    ['all', 'mixed', 'blue: claude-a'],
    // An alias takes precedence over a model with the same name.
    ['all', 'gpt-a', 'blue: claude-a'],
    ['all', 'red/gpt-a', 'red: gpt-a'],
    ['all', 'blue/meta/llama', 'blue: meta/llama'],
    ['all', 'meta/llama', 'blue: meta/llama'],
    ['all', 'green/anything', 'green: anything'],
    ['all', 'anything', 'green: anything'],
    ['all', 'red/unknown', 'green: red/unknown'],
    ['all', 'shared', 'red: shared'],
    ['blue-first', 'shared', 'blue: shared'],
    ['blue-first', 'red/shared', 'red: shared'],
    ['only-blue', 'mixed', 'blue: claude-a'],
    ['only-blue', 'gpt-b', refused],
    ['only-blue', 'fast', refused],
    ['only-blue', 'red/gpt-b', refused],
    ['only-blue', 'green/anything', refused],
    ['dark', 'mixed', 'red: gpt-a'],
    ['dark', 'off-model', '503 no_healthy_provider'],
    ['dark', 'off/off-model', '503 no_healthy_provider'],
    ['gpt', 'gpt-a', 'red: gpt-a'],
    ['gpt', 'fast', refused],
    ['gpt', 'gpt-b', refused],
    ['gpt', 'red/gpt-b', refused],
    ['gpt', 'red/gpt-a', 'red: gpt-a'],
    ['gpt', 'claude-a', refused],
    ['gpt', 'blue/claude-a', refused],
    ['gpt', 'gpt-unknown', refused],
    ['wide', 'gpt-b', refused],
    ['wide', 'anything', refused],
    ['narrow', 'claude-a', 'blue: claude-a'],
    ['narrow', 'blue/claude-a', 'blue: claude-a'],
    ['narrow', 'gpt-b', refused],
    ['narrow', 'red/gpt-b', refused],
    ['narrow', 'claude-new', 'green: claude-new'],
    ['narrow', 'anything', refused],
    ['nothing', 'gpt-a', refused],
  ])('when key %s asks for %s', async (key, model, wanted) => {
    expect(await call(key, model)).toBe(wanted);
    expect(await retrieve(key, model)).toBe(wanted.includes(':') ? model : wanted);
  });
});

test('the suggested nearest name is one that the key may use', async () => {
  const messageFor = async (key: string, model: string) => {
    const response = await fetch(`${gateway.baseUrl}/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secretOf(key)}` },
      body: JSON.stringify({ model }),
    });
    return ((await response.json()) as { error: { message: string } }).error.message;
  };
  expect(await messageFor('gpt', 'gpt-b')).toMatch(/Did you mean "gpt-a"\?$/);
  expect(await messageFor('narrow', 'fsat')).toMatch(/Did you mean "fast"\?$/);
  expect(await messageFor('narrow', 'hiden')).toMatch(/may not use it\.$/);
  expect(await messageFor('nothing', 'gpt-a')).toMatch(/may not use it\.$/);
});

test('the order of targets holds where the first is gone', async () => {
  await upstreams.get('blue')?.stop();
  expect(await call('blue-first', 'shared')).toBe('red: shared');
  const { response } = await client('all').chat.completions.create({ model: 'mixed', messages: [] }).withResponse();
  const record = await gateway.record(response.headers.get('x-request-id') ?? '');
  expect(record).toMatchObject({ outcome: 'ok', modelAsked: 'mixed', modelServed: 'gpt-a', provider: 'red' });
  expect(record.attempts).toMatchObject([
    { provider: 'blue', failure: 'transient' },
    { provider: 'blue', failure: 'transient' },
    { provider: 'red', failure: null },
  ]);
});

test('two keys with one secret are reported at the start, and the first is used', async () => {
  const notices: string[] = [];
  const keys = [
    { id: 'first', group: 'narrow', hash: hashOf('one secret') },
    { id: 'second', group: 'wide', hash: hashOf('one secret') },
  ];
  const twice = await startGateway({
    config: {
      providers: [{ id: 'red', baseUrl: 'http://127.0.0.1:9/v1', models: ['gpt-a', 'gpt-b'] }],
      groups: [{ id: 'narrow', models: ['gpt-a'] }, { id: 'wide' }],
      keys,
    },
    ports: { notice: (line) => notices.push(line) },
  });
  expect(notices).toContainEqual(expect.stringMatching(/^Key "second" has the same secret as key "first"/));
  const { data } = await twice.client.withOptions({ apiKey: 'one secret' }).models.list();
  expect(data.map(({ id }) => id)).toEqual(['gpt-a']);
  await twice.stop();
});
