/** Keys that a client writes by mistake where a name, an id or a path belongs: they reach no provider, and no file. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createLog, createRequestLog } from '../../../server/ground/files/log.ts';
import { hashOf, startGateway, type TestGateway } from '../../support/gateway.ts';
import { refusedHandshake } from '../../support/realtime-upstream.ts';
import { bedrockKey } from '../../support/strict-bedrock.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const key = 'sk-sluice-0123456789abcdefghijABCDEFGHIJ0123456789abcdefgh';
const claudeKey = key.replace('0123', '2222');
const googleKey = key.replace('0123', '3333');
/** Of another person, or of another Sluice. */
const foreignKey = key.replace('0123', '4444');
/** Of no service's form. */
const credential = '7c4a8d09ca3762af61e59520943dc264';
/** As people write where any credential will do, and as models are called. */
const placeholder = 'lm-studio';
const dialects = ['openai', 'anthropic', 'azure', 'gemini', 'bedrock', 'vertex'] as const;
const bases = {
  openai: '/v1',
  anthropic: '/v1',
  azure: '',
  gemini: '/v1beta',
  bedrock: '',
  vertex: '/v1/projects/p1/locations/us-east5',
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let logged = '';
/** Of all requests. */
const ids: string[] = [];

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => json(response, { id: 'x1' }));
  const destination = {
    write(lines: string) {
      logged += lines;
    },
  };
  const requests = createRequestLog(destination);
  gateway = await startGateway({
    config: {
      groups: [
        { id: 'default', capture: true, passthrough: 'openai', policy: { retries: 0, fallbacks: 0 } },
        { id: 'claude', capture: true, passthrough: 'anthropic' },
        { id: 'google', capture: true, passthrough: 'gemini' },
      ],
      keys: [
        { id: 'k1', group: 'default', hash: hashOf(key) },
        { id: 'k2', group: 'claude', hash: hashOf(claudeKey) },
        { id: 'k3', group: 'google', hash: hashOf(googleKey) },
      ],
      providers: [
        ...dialects.map((dialect) => ({
          id: dialect,
          dialect,
          baseUrl: upstream.origin + bases[dialect],
          credentials: [{ id: 'c1' }],
          models: ['*'],
        })),
        { id: placeholder, baseUrl: upstream.baseUrl, credentials: [{ id: 'c1' }], models: ['*'] },
      ],
    },
    secrets: {
      'provider/openai/c1': credential,
      'provider/anthropic/c1': `${credential}anthropic`,
      'provider/azure/c1': `${credential}azure`,
      'provider/gemini/c1': `${credential}gemini`,
      'provider/bedrock/c1': bedrockKey,
      'provider/vertex/c1': 'ya29.test-of-vertex-credentials',
      [`provider/${placeholder}/c1`]: placeholder,
    },
    ports: {
      log: createLog(destination),
      logRequest: (record) => {
        requests.log(record);
        requests.flush();
      },
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

const inPercents = (text: string) =>
  [...text].map((one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
const spellings: [string, (secret: string) => string][] = [
  ['as it is', (secret) => secret],
  ['with a letter escaped', (secret) => secret.replace(/[a-z]/, (letter) => inPercents(letter))],
  ['all escaped', inPercents],
  ['in base64', (secret) => Buffer.from(`me:${secret}`).toString('base64url')],
  ['within a longer name', (secret) => `file-${secret}-1`],
];
const writtenOf = (presented: string) =>
  [presented, foreignKey, credential].flatMap((secret) =>
    spellings.map(([how, spell]) => [how, spell(secret), secret]),
  );
const written = writtenOf(key);

/** `presented`: the key in the header. */
async function ask(
  method: string,
  path: string,
  { body, presented = key }: { body?: object; presented?: string } = {},
) {
  const response = await fetch(gateway.origin + path, {
    method,
    headers: { authorization: `Bearer ${presented}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const id = String(response.headers.get('x-sluice-request-id'));
  ids.push(id);
  return { status: response.status, text, id };
}

const paths: [string, string, (name: string) => string, string][] = [
  ['a file of OpenAI', 'GET', (name) => `/v1/files/${name}`, key],
  ['the content of a file', 'GET', (name) => `/v1/files/${name}/content`, key],
  ['a deletion', 'DELETE', (name) => `/v1/files/${name}`, key],
  ['a batch that is cancelled', 'POST', (name) => `/v1/batches/${name}/cancel`, key],
  ['a vector store that is searched', 'POST', (name) => `/v1/vector_stores/${name}/search`, key],
  ['a video', 'GET', (name) => `/v1/videos/${name}`, key],
  ['a response', 'GET', (name) => `/v1/responses/${name}`, key],
  ['a file of Anthropic', 'GET', (name) => `/v1/files/${name}`, claudeKey],
  ['a batch of Anthropic', 'GET', (name) => `/v1/messages/batches/${name}`, claudeKey],
  ['a file of Gemini', 'GET', (name) => `/v1beta/files/${name}`, googleKey],
  ['a cache of Gemini', 'DELETE', (name) => `/v1beta/cachedContents/${name}`, googleKey],
  ['a tuned model of Gemini', 'GET', (name) => `/v1beta/tunedModels/${name}`, googleKey],
  ['a model of Gemini', 'POST', (name) => `/v1beta/models/${name}:generateContent`, googleKey],
];

describe.each(paths)('in the path of %s', (_what, method, pathOf, presented) => {
  test.each(writtenOf(presented))('a key %s is refused', async (_how, spelling, secret) => {
    const body = method === 'POST' ? { contents: [] } : undefined;
    const { status, text } = await ask(method, pathOf(spelling), { presented, ...(body && { body }) });
    expect([status, text]).toEqual([400, expect.stringMatching(/key/i)]);
    expect(JSON.parse(text).error.message).toContain('contains an API key');
    expect(text).not.toContain(secret);
    expect(upstream.seen).toEqual([]);
  });
});

describe('as the name of a model', () => {
  const deployment = (name: string) => `/openai/deployments/${name}/chat/completions?api-version=2024-10-21`;

  test.each(written)('a key %s is refused in a deployment’s path', async (_how, spelling) => {
    const { status, text } = await ask('POST', deployment(spelling), { body: { messages: [] } });
    expect([status, JSON.parse(text).error.param]).toEqual([400, 'model']);
    expect(upstream.seen).toEqual([]);
  });

  test.each(dialects)('a key is refused for a provider with the dialect %s', async (dialect) => {
    for (const [, spelling = ''] of written) {
      const body = { model: `${dialect}/${spelling}`, messages: [{ role: 'user', content: 'Hi' }] };
      const { status, text } = await ask('POST', '/v1/chat/completions', { body });
      expect([spelling, status, JSON.parse(text).error.param]).toEqual([spelling, 400, 'model']);
    }
    expect(upstream.seen).toEqual([]);
  });

  test('a word that is the credential of a local server is no key', async () => {
    const body = { model: `${placeholder}/qwen`, messages: [{ role: 'user', content: 'Hi' }] };
    const { id } = await ask('POST', '/v1/chat/completions', { body });
    expect(upstream.seen).toHaveLength(1);
    expect(await gateway.record(id)).toMatchObject({ modelAsked: `${placeholder}/qwen` });
    expect((await ask('GET', `/v1/files/${placeholder}-1`)).status).toBe(200);
  });
});

describe('in the query', () => {
  test.each(written)('a key %s is left out', async (_how, spelling) => {
    for (const path of ['/v1/files', '/v1/vector_stores']) {
      const { status } = await ask('GET', `${path}?a=%61&after=${spelling}&b=2`);
      expect([status, upstream.seen.at(-1)?.url]).toEqual([200, `${path}?a=%61&b=2`]);
    }
  });

  test.each(written)('a key %s opens no realtime session', async (_how, spelling, secret) => {
    for (const parameter of ['model', 'call_id']) {
      const path = `/v1/realtime?${parameter}=${spelling}`;
      const refused = await refusedHandshake(gateway, { path, headers: { authorization: `Bearer ${key}` } });
      expect([parameter, refused.status]).toEqual([parameter, 400]);
      expect(JSON.stringify(refused)).not.toContain(secret);
    }
    expect(upstream.seen).toEqual([]);
  });
});

test.each(written)('in a header, a key %s is left out', async (_how, spelling, secret) => {
  const headers = { authorization: `Bearer ${key}`, 'x-note': spelling, 'user-agent': `tool ${spelling}` };
  const response = await fetch(`${gateway.origin}/v1/files`, { headers });
  expect(response.status).toBe(200);
  const seen = { ...upstream.seen.at(-1)?.headers, authorization: '' };
  expect(JSON.stringify(seen)).not.toContain(spelling);
  expect(JSON.stringify(seen)).not.toContain(secret);
});

test('none of them is in what was written and captured', async () => {
  const { id } = await ask('GET', '/v1/files/last-one');
  await gateway.record(id);
  const files = readdirSync(gateway.folder).map((name) => readFileSync(join(gateway.folder, name), 'latin1'));
  const kept = await Promise.all(ids.map((each) => gateway.gateway.query({ type: 'request', id: each })));
  const text = [logged, ...files, JSON.stringify(kept)].join('\n');
  expect(kept.every(({ capture }) => capture !== null)).toBe(true);
  expect(text).toContain(id);
  const found = paths
    .flatMap(([, , , presented]) => writtenOf(presented))
    .filter(([, spelling = '', secret = '']) => text.includes(spelling) || text.includes(secret));
  expect(found).toEqual([]);
});
