import { readdirSync, readFileSync } from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog, createRequestLog } from '../../../server/ground/files/log.ts';
import { openSqliteDatabase } from '../../../server/store/sqlite/database.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const key = 'sk-sluice-0123456789abcdefghijABCDEFGHIJ0123456789abcdefgh';
const credential = 'sk-upstream/credential+4711';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let logged = '';

beforeAll(async () => {
  upstream = await startUpstream();
  const destination = {
    write(lines: string) {
      logged += lines;
    },
  };
  const requests = createRequestLog(destination);
  gateway = await startGateway({
    config: {
      providers: [mainProvider(upstream.baseUrl, { headers: { 'X-Api-Key': 'of-the-provider' } })],
      groups: [{ id: 'default', capture: true, passthrough: null }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(key) }],
    },
    secrets: { 'provider/main/c1': credential },
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

interface Asked {
  path?: string;
  headers?: Record<string, string | string[]>;
  body?: string;
}

/** Unlike fetch, it can send any header. */
async function ask({ path = '/chat/completions', headers = {}, body = '{"model":"gpt-x"}' }: Asked) {
  const request = http.request(new URL(gateway.baseUrl + path), {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
  request.end(body);
  const response = await answered;
  const text = (await buffer(response)).toString();
  return { status: response.statusCode, text, id: String(response.headers['x-sluice-request-id']) };
}

async function captureOf(id: string) {
  await gateway.record(id);
  const { capture } = await gateway.gateway.query({ type: 'request', id });
  return capture;
}

/** Everything that Sluice has written. */
function written(): string {
  const files = readdirSync(gateway.folder).map((name) => readFileSync(join(gateway.folder, name), 'latin1'));
  return [logged, ...files].join('\n');
}

const basic = Buffer.from(`me:${key}`).toString('base64');

describe('the key that a client presents', () => {
  test.each<[string, Record<string, string | string[]>]>([
    ...[
      'api-key',
      'x-api-key',
      'x-goog-api-key',
      'x-litellm-api-key',
      'ocp-apim-subscription-key',
      'x-auth-token',
      'x-access-token',
      'proxy-authorization',
      'cookie',
      'x-openai-key',
      'x-functions-key',
      'x-note',
      'user-agent',
      'x-client-request-id',
      'idempotency-key',
      'openai-beta',
      'accept',
      'content-language',
      'traceparent',
    ].map((name): [string, Record<string, string>] => [name, { [name]: key }]),
    ['a header of several values', { 'x-note': ['a', `b ${key}`] }],
    ['a cookie among others', { cookie: `a=1; session=${key}` }],
    ['a percent-encoded header', { 'x-note': `k=${key.replaceAll('-', '%2d')}` }],
    ['a header in base64', { 'x-note': `Basic ${basic}` }],
  ])('does not reach the upstream in %s', async (_place, headers) => {
    expect((await ask({ headers })).status).toBe(200);
    const seen = upstream.seen.at(-1);
    expect(seen?.headers).toMatchObject({ authorization: `Bearer ${credential}`, 'x-api-key': 'of-the-provider' });
    expect(JSON.stringify(seen?.headers)).not.toMatch(key);
    expect(JSON.stringify(seen?.headers)).not.toMatch(/%2dsluice|b25leQ|Basic/i);
  });

  test.each([
    `key=${key}`,
    `api_key=${key}`,
    `api-key=${key}`,
    `access_token=${key}`,
    `note=${key}`,
    `note=x${key.replaceAll('s', '%73')}`,
    `note=${basic}`,
    key,
  ])('does not reach the upstream in the query ?%s', async (parameter) => {
    expect((await ask({ path: `/chat/completions?a=%61&${parameter}&b=2` })).status).toBe(200);
    expect(upstream.seen.at(-1)?.url).toBe('/v1/chat/completions?a=%61&b=2');
  });

  test('does not reach the upstream as the name of a model', async () => {
    const before = upstream.seen.length;
    for (const model of [key, `main/${key}`, key.replaceAll('s', '\\u0073')]) {
      const { status, text } = await ask({ body: `{"model":"${model}"}` });
      expect([status, JSON.parse(text).error.param]).toEqual([400, 'model']);
    }
    expect(upstream.seen.length).toBe(before);
  });
});

test('what a client has of other credentials does not go beside the provider’s', async () => {
  const headers = { 'x-goog-api-key': 'AIza-mine', 'x-litellm-api-key': 'mine', cookie: 'a=mine', 'api-key': 'mine' };
  await ask({ path: '/chat/completions?key=mine&subscription-key=mine', headers });
  expect(JSON.stringify(upstream.seen.at(-1))).not.toContain('mine');
});

test('a key written where a model or a program’s name belongs stands in neither log nor ledger', async () => {
  const other = `sk-proj-${'a1B2'.repeat(12)}`;
  await ask({ headers: { 'user-agent': `tool ${key}` } });
  await ask({ body: `{"model":"${key}"}` });
  const { id } = await ask({ body: `{"model":"${other}"}`, headers: { 'user-agent': `tool/2 (${other})` } });
  expect(await gateway.record(id)).toMatchObject({
    modelAsked: '[redacted]',
    client: 'tool/2 ([redacted])',
    attempts: [{ model: '[redacted]' }],
  });
  upstream.answer((_request, response) => json(response, { id: 'resp_1', object: 'response' }));
  await ask({ path: '/responses', body: `{"model":"${other}"}` });
  upstream.answer((_request, response) => json(response, { ok: true }));
  const database = openSqliteDatabase(join(gateway.folder, 'ledger.sqlite'));
  const jobs = await eventually(() => {
    const rows = database.prepare('SELECT id, model FROM jobs').all();
    return rows.length > 0 ? rows : null;
  });
  database.close();
  expect(jobs).toEqual([{ id: 'resp_1', model: null }]);
  // A wrong key is not recorded either.
  const wrong = key.replace('0123', '3210');
  const refused = await ask({ headers: { authorization: `Bearer ${wrong}`, 'user-agent': wrong } });
  expect(refused.status).toBe(401);
  const rows = await gateway.gateway.query({ type: 'requests', limit: 1_000 });
  expect(JSON.stringify(rows)).not.toMatch(`${key}|${wrong}`);
  expect(logged).toContain('"model":"[redacted]"');
  expect(logged).not.toMatch(`${key}|${other}|${wrong}`);
});

test('an upstream that repeats a secret in its refusal has it in neither log nor ledger', async () => {
  upstream.answer((_request, response) => {
    const message = `No: ${credential.replace('/', '\\/')}, ${encodeURIComponent(credential)}, ${key}`;
    json(response, { error: { message, code: key } }, 400, { 'x-request-id': `req ${key}` });
  });
  const { id } = await ask({});
  const row = await gateway.record(id);
  expect(row.attempts[0]?.error).toContain('No: [redacted], [redacted], [redacted]');
  expect(JSON.stringify(row)).not.toMatch(key);
  upstream.answer((_request, response) => json(response, { ok: true }));
});

describe('a key', () => {
  const places: [string, Asked][] = [
    ['api-key', { headers: { 'api-key': key } }],
    ['x-api-key', { headers: { 'X-Api-Key': ` ${key} ` } }],
    ['x-goog-api-key', { headers: { 'x-goog-api-key': key } }],
    ['the query', { path: `/chat/completions?a=1&key=${key}` }],
    ['the query, escaped', { path: `/chat/completions?a=1&key=${key.replaceAll('s', '%73')}` }],
    ['a header beside an authorization that bears none', { headers: { authorization: 'Bearer ', 'api-key': key } }],
  ];
  test.each(places)(
    'is read from %s, and goes no further (Trap 48: qwen-code#4323)',
    async (_place, { path = '/chat/completions', headers }) => {
      const asked = { path, headers: { authorization: 'Basic none', 'x-echo': `it is ${key}`, ...headers } };
      const { status, id } = await ask(asked);
      expect(status).toBe(200);
      expect(await gateway.record(id)).toMatchObject({ keyId: 'k1', outcome: 'ok' });
      const seen = upstream.seen.at(-1);
      expect(seen?.headers).toMatchObject({ authorization: `Bearer ${credential}`, 'x-api-key': 'of-the-provider' });
      expect(`${seen?.url} ${JSON.stringify(seen?.headers)}`).not.toMatch(`${key}|%73k`);
    },
  );

  test('is the one of the authorization where two are presented, and neither goes further', async () => {
    const other = key.replace('0123', '9999');
    const refused = await ask({ headers: { authorization: `Bearer ${other}`, 'x-api-key': key } });
    expect(refused.status).toBe(401);
    const headers = {
      'x-api-key': other,
      'x-goog-api-key': 'third-of-the-keys',
      'x-echo': `${other} third-of-the-keys`,
    };
    const { status, id } = await ask({ path: '/chat/completions?key=fourth-of-the-keys', headers });
    expect(status).toBe(200);
    expect(JSON.stringify(upstream.seen.at(-1))).not.toMatch(`${key}|${other}|of-the-keys`);
    const capture = JSON.stringify(await captureOf(id));
    expect(capture).not.toMatch(`${key}|${other}|of-the-keys`);
    expect(logged).not.toMatch(`${other}|of-the-keys`);
  });

  test('that is none of Sluice’s is refused wherever it stands, and in no file', async () => {
    const wrong = key.replace('0123', '7777');
    const none = { authorization: 'Basic none' };
    for (const name of ['api-key', 'x-api-key', 'x-goog-api-key']) {
      const { status, text } = await ask({ headers: { ...none, [name]: wrong, 'user-agent': wrong } });
      expect([status, JSON.parse(text).error.code]).toEqual([401, 'invalid_api_key']);
    }
    expect((await ask({ path: `/chat/completions?key=${wrong}`, headers: none })).status).toBe(401);
    expect(written()).not.toContain(wrong);
  });
});

describe('a path that is not served', () => {
  const rowOf = async (path: string, expected = 404) => {
    const { status, text, id } = await ask({ path });
    expect(status).toBe(expected);
    return { ...(await gateway.record(id)), message: String(JSON.parse(text).error.message) };
  };

  test('is in log and ledger with its key and the reason', async () => {
    const row = await rowOf('/batches?limit=1');
    expect(row).toMatchObject({ method: 'POST', route: '/v1/batches', keyId: 'k1', errorCode: 'unknown_url' });
    expect(row.message).not.toContain('base URL');
    const lines = logged.split('\n').filter((line) => line.includes(row.id));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { route: 'POST /v1/batches', key: 'k1', status: 404, error: 'unknown_url' },
    ]);
  });

  test('is there too where it is below nothing that Sluice knows, and the hint is one that helps', async () => {
    const rows = [await rowOf('/../chat/completions'), await rowOf('/../api/v1/responses'), await rowOf('/../nothing')];
    expect(rows.map(({ route, keyId }) => [route, keyId])).toEqual([
      ['/chat/completions', 'k1'],
      ['/api/v1/responses', 'k1'],
      ['/nothing', 'k1'],
    ]);
    expect(rows.map(({ message }) => /calls (\S+):/.exec(message)?.[1])).toEqual([
      '/v1/chat/completions',
      '/v1/responses',
      undefined,
    ]);
  });

  test('is noted without secrets, and no longer than a line', async () => {
    const other = `sk-proj-${'a1B2'.repeat(12)}`;
    expect((await rowOf(`/Batches/${key}`)).route).toBe('/v1/Batches/[redacted]');
    expect((await rowOf(`/Batches/${key.replaceAll('s', '%73')}`)).route).toBe('/v1/Batches/[redacted]');
    expect((await rowOf(`/Batches/${other}/x`)).route).toBe('/v1/Batches/[redacted]/x');
    expect((await rowOf(`/Batches/${'x'.repeat(10_000)}`, 400)).route).toHaveLength(200);
    expect((await rowOf(`/batches/${other}/x`)).route).toBe('/v1/batches/{id}/x');
    expect(written()).not.toMatch(`${key}|${other}`);
  });
});

describe('what is captured', () => {
  test.each<[string, string]>([
    ['as they are', `${credential} ${key}`],
    ['escaped as in JSON', [...`${credential} ${key}`].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join('')],
    ['with one letter escaped', `${credential.replace('u', '\\u0075')} ${key.replace('s', '\\u0073')}`],
    ['in an address', encodeURIComponent(`${credential} ${key}`)],
    ['in base64', Buffer.from(`user:${credential} ${key}`).toString('base64')],
  ])('of a reply holds no secrets that stand in it %s', async (_how, text) => {
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'x-echo': text }).end(`{"echo":"${text}!"}`);
    });
    const answered = await ask({});
    expect(answered.text).toBe(`{"echo":"${text}!"}`);
    const capture = await captureOf(answered.id);
    expect(capture?.response.body?.data).toMatch(/^\{"echo":"[^"]*\[redacted\]/);
    const kept = JSON.stringify(capture);
    for (const secret of [text, credential, key, ...text.split(/ |%20|\\u0020/)]) expect(kept).not.toContain(secret);
  });

  test('of a request holds no key, and the upstream has the body as it came', async () => {
    const body = `{"model":"gpt-x","user":"${key}","metadata":{"k":"${key.replace('s', '\\u0073')}"}}`;
    const { id } = await ask({ body, headers: { 'x-note': `mine ${key}` } });
    const capture = await captureOf(id);
    expect(capture?.request.body?.data).toBe('{"model":"gpt-x","user":"[redacted]","metadata":{"k":"[redacted]"}}');
    expect(Object.fromEntries(capture?.request.headers ?? [])['x-note']).toBe('mine [redacted]');
    expect(upstream.seen.at(-1)?.body.toString()).toBe(body);
  });

  test('of a reply that is compressed is nothing, since nothing would be found in it', async () => {
    upstream.answer((_request, response) => {
      const packed = gzipSync(`{"echo":"${credential}"}`);
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(packed);
    });
    const { id } = await ask({});
    const capture = await captureOf(id);
    expect(capture?.response).toMatchObject({ body: null, gap: 'compressed' });
    expect(Object.fromEntries(capture?.response.headers ?? [])['content-encoding']).toBe('gzip');
  });
});

test('nothing that Sluice has written holds a secret', async () => {
  const text = written();
  const found = ['gpt-x', key, credential].map((word) => text.includes(word));
  expect(found).toEqual([true, false, false]);
});
