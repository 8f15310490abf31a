/**
 * A video, an image, a batch or an answer in the background is bought at most once: it is asked for again only if nothing can
 * have been made, and the client is told when it may have been.
 *
 * @suite long
 */
import type { ServerResponse } from 'node:http';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hashOf, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { closedPort } from '../../support/ports.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

/** What an upstream does with a request that makes something. */
type Fault = (response: ServerResponse) => void;
const status = (code: number, error: object = { message: 'No.', type: 'server_error' }): Fault => {
  return (response) => json(response, { error }, code);
};

/** Something may have been made. */
const losses: Record<string, Fault> = {
  'a reset before the head': (response) => response.socket?.resetAndDestroy(),
  'a reset in the head': (response) => {
    response.socket?.write('HTTP/1.1 200 OK\r\ncontent-', () => response.socket?.resetAndDestroy());
  },
  'an end without an answer': (response) => response.socket?.end(),
  'status 500': status(500),
  'status 502': status(502),
  'status 504': status(504),
  'status 408': status(408),
  'status 409': status(409),
  'a page of HTML with 500': (response) => response.writeHead(500, { 'content-type': 'text/html' }).end('<html>'),
  'a refusal of quota that comes with 500': status(500, { message: 'No.', code: 'insufficient_quota' }),
  'a body that is cut': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 500 });
    response.write('{"id":"made_1",', () => response.socket?.resetAndDestroy());
  },
  'an error that is cut': (response) => {
    response.writeHead(500, { 'content-type': 'application/json', 'content-length': 500 });
    response.write('{"error":', () => response.socket?.resetAndDestroy());
  },
  'an answer that is no JSON': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id": "made');
  },
  'an answer without content': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(),
  'a server error in an answer with 200': status(200, { message: 'Broken.', code: 'server_error' }),
  'a redirect that follows the work': (response) => response.writeHead(303, { location: '/v1/elsewhere' }).end(),
};

/** Nothing can have been made. */
const refusals: Record<string, Fault> = {
  'status 503': status(503),
  'status 429': status(429, { message: 'Slow down.', code: 'rate_limit_exceeded' }),
  'status 401': status(401, { message: 'Who?', code: 'invalid_api_key' }),
  'status 402': status(402),
  'status 403': status(403),
  'status 404 of the model': status(404, { message: 'No such model.', code: 'model_not_found' }),
  'a redirect of the whole request': (response) => response.writeHead(307, { location: '/v1/elsewhere' }).end(),
};

interface Purchase {
  path: string;
  body: string | FormData;
  type?: string;
  made: object;
}
const form = (fields: Record<string, string>) => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  data.set('image', new Blob(['PNG'], { type: 'image/png' }), 'a.png');
  return data;
};
const video = { id: 'video_2', object: 'video', status: 'queued', model: 'film', progress: 0 };
const images = { created: 1, data: [{ b64_json: 'AAAA' }] };
const jsonOf = (value: object) => JSON.stringify(value);
const background = { id: 'resp_2', object: 'response', status: 'queued', background: true, model: 'film', output: [] };

/** Every request that makes something. Those that name a video go to the provider that made it. */
const purchases: Record<string, Purchase> = {
  'a video': { path: '/videos', body: jsonOf({ model: 'film', prompt: 'A cat.' }), made: video },
  'a video from a form': { path: '/videos', body: form({ model: 'film', prompt: 'A cat.' }), made: video },
  'a remix': { path: '/videos/VIDEO/remix', body: jsonOf({ prompt: 'A dog.' }), made: video },
  'an edited video': { path: '/videos/edits', body: jsonOf({ video: { id: 'VIDEO' }, prompt: 'A dog.' }), made: video },
  'a longer video': {
    path: '/videos/extensions',
    body: jsonOf({ video: { id: 'VIDEO' }, prompt: 'On.', seconds: '4' }),
    made: video,
  },
  'an image': { path: '/images/generations', body: jsonOf({ model: 'film', prompt: 'A cat.' }), made: images },
  'a streamed image': {
    path: '/images/generations',
    body: jsonOf({ model: 'film', prompt: 'A cat.', stream: true }),
    made: images,
  },
  'an edited image': { path: '/images/edits', body: form({ model: 'film', prompt: 'A dog.' }), made: images },
  'a variation': { path: '/images/variations', body: form({ model: 'film' }), made: images },
  'an answer in the background': {
    path: '/responses',
    body: jsonOf({ model: 'film', input: 'Think.', background: true }),
    made: background,
  },
  'a streamed answer in the background': {
    path: '/responses',
    body: jsonOf({ model: 'film', input: 'Think.', background: true, stream: true }),
    made: background,
  },
  'a batch': { path: '/batches', body: jsonOf({ input_file_id: 'file_1' }), made: { id: 'batch_1', object: 'batch' } },
  'an upload': { path: '/files', body: form({ purpose: 'batch' }), made: { id: 'file_2', object: 'file' } },
};

/** Passed through, so that the client has the answer, as bad as it is, from its first byte. */
const passed = ['an edited video', 'a longer video', 'a batch', 'an upload'];
const relayed = [
  'a body that is cut',
  'an answer that is no JSON',
  'an answer without content',
  'a server error in an answer with 200',
];
const losing = Object.keys(purchases).flatMap((name) =>
  Object.keys(losses).flatMap((how) => (passed.includes(name) && relayed.includes(how) ? [] : [[name, how] as const])),
);

let one: ScriptedUpstream;
let two: ScriptedUpstream;
let gateway: TestGateway;
/** How the first provider fails; null: it does not. */
let fault: Fault | null = null;
/** The providers that were asked since `fault` was set, and their idempotency keys. */
let asked: { by: string; key: string | undefined }[] = [];
let made: object = {};

/** Long enough for a busy machine. */
const silenceMs = 1_500;
const groups = ['one', 'two', 'hedged', 'bold', 'away'] as const;
type Group = (typeof groups)[number];
const keyOf = (group: Group) => `sk-${group}`;
const policies: Partial<Record<Group, object>> = { hedged: { hedgeAfterMs: 20 }, bold: { retryLostJobs: true } };
const providersOf: Record<Group, string[]> = {
  one: ['one'],
  two: ['one', 'two'],
  hedged: ['one', 'two'],
  bold: ['one', 'two'],
  away: ['nobody', 'two'],
};

beforeAll(async () => {
  const answering = (by: string, mayFail: boolean) =>
    startUpstream((request, response) => {
      const idempotencyKey = request.headers['idempotency-key'];
      asked.push({ by, key: typeof idempotencyKey === 'string' ? idempotencyKey : undefined });
      if (mayFail && fault) fault(response);
      else json(response, made);
    });
  one = await answering('one', true);
  two = await answering('two', false);
  const addresses = { one: one.baseUrl, two: two.baseUrl, nobody: `http://127.0.0.1:${await closedPort()}/v1` };
  const timeouts = { firstByteMs: silenceMs, firstContentMs: silenceMs, idleMs: silenceMs };
  const credentials = [{ id: 'c1' }];
  gateway = await startGateway({
    config: {
      providers: Object.entries(addresses).map(([id, baseUrl]) => ({
        ...{ id, baseUrl, credentials, timeouts },
        models: ['film'],
      })),
      groups: groups.map((id) => ({
        id,
        providers: providersOf[id],
        order: providersOf[id].map((provider, priority) => ({ provider, priority })),
        passthrough: 'one',
        policy: policies[id] ?? {},
      })),
      keys: groups.map((group) => ({ id: group, group, hash: hashOf(keyOf(group)) })),
    },
    secrets: { 'provider/one/c1': 'of-one', 'provider/two/c1': 'of-two', 'provider/nobody/c1': 'of-nobody' },
  });
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([one.stop(), two.stop()]);
});

beforeEach(async () => {
  fault = null;
  asked = [];
  for (const id of ['one', 'two']) await gateway.gateway.execute({ type: 'provider.reset-health', id });
});

async function buy(name: string, group: Group, headers: Record<string, string> = {}) {
  const purchase = purchases[name];
  if (!purchase) throw new Error(`There is no ${name}.`);
  const { path, body } = purchase;
  const isJson = typeof body === 'string';
  const response = await fetch(gateway.baseUrl + path.replace('VIDEO', `video_${group}`), {
    method: 'POST',
    body: isJson ? body.replace('VIDEO', `video_${group}`) : body,
    headers: {
      ...(isJson && { 'content-type': 'application/json' }),
      ...headers,
      authorization: `Bearer ${keyOf(group)}`,
    },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** A purchase that fails as told at the first provider. */
async function buyFrom(name: string, how: Fault | null, group: Group, headers: Record<string, string> = {}) {
  fault = null;
  made = { ...video, id: `video_${group}` };
  // The requests that name a video need one whose owner is known.
  if (group !== 'away') expect((await buy('a video', group)).status).toBe(200);
  fault = how;
  made = purchases[name]?.made ?? {};
  asked = [];
  return buy(name, group, headers);
}

describe.each(['one', 'two', 'hedged'] as const)('what may have been made is not made again, in group %s', (group) => {
  test('after a silence', async () => {
    made = { ...video, id: `video_${group}` };
    expect((await buy('a video', group)).status).toBe(200);
    fault = () => {};
    asked = [];
    const answers = await Promise.all(Object.keys(purchases).map((name) => buy(name, group)));
    expect(asked.map(({ by }) => by)).toEqual(answers.map(() => 'one'));
    for (const { text } of answers) expect(text).toContain('purchase_outcome_unknown');
  });

  test.each(losing)('%s after %s', async (name, how) => {
    const answer = await buyFrom(name, losses[how] ?? null, group);
    expect(asked.map(({ by }) => by)).toEqual(['one']);
    expect(answer.text).toContain('purchase_outcome_unknown');
    const { status: told, headers } = answer;
    // The client of a stream may have had a comment already.
    if (told !== 200) expect([told, headers.get('x-should-retry')]).toEqual([502, 'false']);
  });
});

const fromVideo = ['a remix', 'an edited video', 'a longer video'];
const anywhere = Object.keys(purchases).filter((name) => !passed.includes(name) && !fromVideo.includes(name));

describe('what cannot have been made is asked for elsewhere', () => {
  test.each(anywhere.flatMap((name) => Object.keys(refusals).map((how) => [name, how] as const)))(
    '%s after %s',
    async (name, how) => {
      const answer = await buyFrom(name, refusals[how] ?? null, 'two');
      expect(answer.status).toBe(200);
      expect(asked.at(-1)?.by).toBe('two');
      expect(asked.filter(({ by }) => by === 'two')).toHaveLength(1);
    },
  );

  test.each(anywhere)('%s after a refused connection', async (name) => {
    const answer = await buyFrom(name, null, 'away');
    expect([answer.status, asked.map(({ by }) => by)]).toEqual([200, ['two']]);
  });
});

test.each(Object.keys(refusals))('a refusal is told as it was: %s', async (how) => {
  const answer = await buyFrom('an image', refusals[how] ?? null, 'one');
  expect(answer.text).not.toContain('purchase_outcome_unknown');
});

test('a refusal that came before does not hide that something may have been made', async () => {
  const faults = [status(429, { message: 'Slow down.', code: 'rate_limit_exceeded' }), status(500)];
  const answer = await buyFrom('an image', (response) => faults.shift()?.(response), 'one');
  expect(asked).toHaveLength(2);
  expect(answer.text).toContain('purchase_outcome_unknown');
});

describe('what may have been made is recorded as of unknown cost', () => {
  test.each(['a video', 'an image', 'an answer in the background', 'a batch'])('%s', async (name) => {
    const { headers } = await buyFrom(name, status(500), 'two');
    const row = await gateway.record(headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ errorCode: 'purchase_outcome_unknown', costUsd: null, usage: null });
    expect(row.attempts).toMatchObject([{ provider: 'one', failure: 'lost', costUsd: null }]);
  });

  test('an upload, which is free, costs nothing', async () => {
    const { headers } = await buyFrom('an upload', status(500), 'two');
    const row = await gateway.record(headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ errorCode: 'purchase_outcome_unknown', costUsd: 0 });
  });
});

test('under a hard budget, what may have been made costs what was reserved for it', async () => {
  const budgets = [{ unit: 'usd' as const, amount: 20, per: 'day' as const, hard: true }];
  const budgeted = await startGateway({
    config: {
      providers: [{ id: 'one', baseUrl: one.baseUrl, credentials: [{ id: 'c1' }], models: ['film'] }],
      groups: [{ id: 'default' }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey), limits: { budgets } }],
      settings: { prices: { film: { second: 1 } } },
    },
    secrets: { 'provider/one/c1': 'of-one' },
  });
  fault = status(500);
  const body = jsonOf({ model: 'film', prompt: 'A cat.', seconds: '4' });
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  const answer = await budgeted.fetch('/videos', init);
  const row = await budgeted.record(answer.headers.get('x-request-id') ?? '');
  await budgeted.stop();
  expect(row).toMatchObject({ errorCode: 'purchase_outcome_unknown', costUsd: 4, usage: { seconds: 4 } });
});

test('a group that prefers to pay twice asks again, and then elsewhere', async () => {
  const answer = await buyFrom('a video', status(500), 'bold');
  expect([answer.status, asked.map(({ by }) => by)]).toEqual([200, ['one', 'one', 'two']]);
});

describe('an idempotency key', () => {
  test('is the same for each attempt at an account, and another elsewhere', async () => {
    await buyFrom('a video', status(503), 'two');
    const [first, second, elsewhere] = asked;
    expect(asked.map(({ by }) => by)).toEqual(['one', 'one', 'two']);
    expect(first?.key).toMatch(/^[0-9a-f-]{36}$/);
    expect(second?.key).toBe(first?.key);
    expect(elsewhere?.key).toMatch(/^[0-9a-f-]{36}$/);
    expect(elsewhere?.key).not.toBe(first?.key);
  });

  test('of the client passes', async () => {
    await buyFrom('a video', status(503), 'two', { 'Idempotency-Key': 'mine' });
    expect(asked.map(({ key }) => key)).toEqual(['mine', 'mine', 'mine']);
  });

  test('is not sent with what buys nothing', async () => {
    asked = [];
    await gateway.fetch('/responses', {
      method: 'POST',
      headers: { authorization: `Bearer ${keyOf('one')}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'film', input: 'Think.' }),
    });
    expect(asked[0]?.key).toBeUndefined();
  });
});

test('a text is asked for again, as before', async () => {
  made = { ...background, status: 'completed', background: false };
  fault = status(500);
  const response = await fetch(`${gateway.baseUrl}/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keyOf('two')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'film', input: 'Think.' }),
  });
  expect([response.status, asked.map(({ by }) => by)]).toEqual([200, ['one', 'one', 'two']]);
});

test("OpenAI's client does not buy a second one by itself", async () => {
  fault = status(500);
  const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: keyOf('two'), maxRetries: 2 });
  const error = await client.videos.create({ model: 'film', prompt: 'A cat.' }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status: 502, code: 'purchase_outcome_unknown' });
  expect(asked).toHaveLength(1);
});
