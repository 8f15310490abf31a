/** The course of a request holds without any one of its companions: features that accompany it, and that it does not know. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Companion } from '../../../../server/exchange/course/companion.ts';
import { eventually } from '../../../support/eventually.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../../support/gateway.ts';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../../../support/upstream.ts';

let all: readonly Companion[] = [];
let leftOut: number | null = null;

vi.mock(import('../../../../server/exchange/companions.ts'), async (original) => {
  const { createCompanions } = await original();
  return {
    createCompanions: (ports) => {
      all = createCompanions(ports);
      return all.filter((_companion, index) => index !== leftOut);
    },
  };
});

const answer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};
const event = (delta: object, finish: string | null = null) =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
const streamed = [event({ role: 'assistant', content: 'Hi' }), event({}, 'stop'), '[DONE]']
  .map((data) => `data: ${data}\n\n`)
  .join('');

const usual: Script = (request, response) => {
  if (JSON.parse(request.body.toString() || '{}').stream === true)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamed);
  else json(response, answer);
};

let good: ScriptedUpstream;
let bad: ScriptedUpstream;
let sluice: TestGateway;

beforeAll(async () => {
  good = await startUpstream(usual);
  bad = await startUpstream((_request, response) => json(response, { error: { message: 'down' } }, 503));
});

afterAll(async () => {
  await good.stop();
  await bad.stop();
});

const question = { model: 'gpt-x', messages: [{ role: 'user', content: 'Hello' }] };

function ask(body: object, secret = testKey, signal?: AbortSignal): Promise<Response> {
  return fetch(`${sluice.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

const recordOf = (response: Response) => sluice.record(response.headers.get('x-sluice-request-id') ?? '');

async function start(without: number | null): Promise<void> {
  leftOut = without;
  sluice = await startGateway({
    config: {
      providers: [
        { ...mainProvider(bad.baseUrl), id: 'down' },
        { ...mainProvider(good.baseUrl), id: 'main', models: ['gpt-x'] },
      ],
      groups: [{ id: 'default', providers: ['down', 'main'], policy: { retries: 0 } }],
      keys: [
        { id: 'k1', group: 'default', hash: hashOf(testKey) },
        { id: 'k2', group: 'default', hash: hashOf('limited'), limits: { requestsPerMinute: 1 } },
      ],
    },
    secrets: { 'provider/down/c1': 'other-secret' },
  });
}

afterEach(() => sluice.stop());

/** By place in the list; null: with all of them. */
const places = [null, 0, 1, 2, 3, 4, 5, 6, 7];

test('each companion is left out once', async () => {
  await start(null);
  expect(places).toEqual([null, ...all.keys()]);
});

describe.each(places)('the course without the companion in place %s', (place) => {
  test('answers, streams, refuses, limits, lists models, notes who left, and records each', async () => {
    await start(place);
    const plain = await ask(question);
    expect([plain.status, await plain.json()]).toEqual([200, answer]);
    expect(await recordOf(plain)).toMatchObject({
      outcome: 'ok',
      usage: { inputTokens: 3, outputTokens: 2 },
      attempts: [{ provider: 'down', failure: 'transient' }, { provider: 'main' }],
    });
    const stream = await ask({ ...question, stream: true });
    expect(await stream.text()).toBe(streamed);
    expect(await recordOf(stream)).toMatchObject({ outcome: 'ok', stream: true });
    expect((await ask(question, 'nobody')).status).toBe(401);
    const broken = await ask({ model: 7 });
    expect([broken.status, (await recordOf(broken)).outcome]).toEqual([400, 'error']);
    expect([(await ask(question, 'limited')).status, (await ask(question, 'limited')).status]).toEqual([200, 429]);
    const { data } = (await (await sluice.fetch('/models')).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toContain('gpt-x');
    expect((await sluice.fetch('/nothing')).status).toBe(404);
    await noteLeaving();
  });
});

async function noteLeaving(): Promise<void> {
  const asked = good.seen.length;
  const leaving = new AbortController();
  good.answer(() => leaving.abort());
  await ask(question, testKey, leaving.signal).catch(() => {});
  good.answer(usual);
  expect(good.seen.length).toBe(asked + 1);
  await eventually(async () => (await sluice.record()).outcome === 'client-gone' || null);
}
