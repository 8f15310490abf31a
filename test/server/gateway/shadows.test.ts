/** Shadow requests over real sockets: what they send, what they report, and that they cost the client nothing. */
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { eventStream, json } from '../../support/upstream.ts';
import { completion, question, startTargets, type TwoTargets } from './two-targets.ts';

let targets: TwoTargets;

afterEach(() => targets.stop());

const text = (body: { data: string } | null | undefined) => body?.data ?? '';

test('a request is sent once more to the other target, and both answers are kept side by side', async () => {
  targets = await startTargets();
  const { id, text: answer } = await targets.ask(question, undefined, { 'user-agent': 'my-agent/1' });
  expect(answer).toContain('Because.');
  const shadow = await targets.shadowOf(id);
  expect(JSON.parse(targets.two.seen[0]?.body.toString() ?? '')).toEqual({ ...question, model: 'cheap' });
  expect(shadow).toMatchObject({
    keyId: null,
    groupId: 'default',
    modelAsked: 'two/cheap',
    modelServed: 'cheap',
    provider: 'two',
    outcome: 'ok',
    status: 200,
    session: null,
    captured: 'shadow',
    sameAnswer: false,
    shadowOf: { id, provider: 'one', model: 'gpt-x', costUsd: 1, outputTokens: 500 },
  });
  expect(shadow.costUsd).toBeCloseTo(0.1);
  const own = await targets.gateway.gateway.query({ type: 'request', id });
  expect(own.request).toMatchObject({ captured: 'shadow', shadowOf: null, sameAnswer: null, costUsd: 1 });
  expect(text(own.capture?.response.body)).toContain('Because.');
  const other = await targets.gateway.gateway.query({ type: 'request', id: shadow.id });
  expect(text(other.capture?.response.body)).toContain('Because!');
  expect(text(other.capture?.request.body)).toContain('Why?');
});

test('secrets of clients and providers are removed from what is kept of a shadow', async () => {
  targets = await startTargets();
  targets.two.answer((request, response) => json(response, completion(`You sent ${request.headers.authorization}.`)));
  const { id } = await targets.ask(question);
  const shadow = await targets.shadowOf(id);
  const kept = JSON.stringify(await targets.gateway.gateway.query({ type: 'request', id: shadow.id }));
  expect(kept).toContain('You sent Bearer [redacted]');
  expect(kept).not.toContain('secret-of-two');
});

test('the client neither waits for its shadow nor sees that it fails', async () => {
  targets = await startTargets();
  let fail = () => {};
  targets.two.answer((_request, response) => {
    fail = () => json(response, { error: { message: 'broken' } }, 500);
  });
  const { id, status } = await targets.ask(question);
  expect(status).toBe(200);
  expect((await targets.gateway.record(id)).outcome).toBe('ok');
  await eventually(() => targets.two.seen.length === 1);
  fail();
  expect(await targets.shadowOf(id)).toMatchObject({ outcome: 'error', status: 500, sameAnswer: null, costUsd: 0 });
  expect(targets.two.seen).toHaveLength(1);
  const [summary] = (await targets.report()).summaries;
  expect(summary).toMatchObject({ requests: 1, answered: 0, compared: 0, original: { costUsd: null } });
  const providers = await targets.gateway.gateway.query({ type: 'providers' });
  expect(providers.find((provider) => provider.id === 'two')?.health).toMatchObject({ state: 'ok' });
});

test('what shadows cost counts for no key and no group, but is shown as their own', async () => {
  const limits = { requestsPerMinute: 1, budgets: [{ unit: 'usd' as const, amount: 1.05, per: 'day' as const }] };
  targets = await startTargets({ limits });
  const { id } = await targets.ask(question);
  await targets.shadowOf(id);
  const { query } = targets.gateway.gateway;
  const [group] = await query({ type: 'groups' });
  expect(group?.limitUse.map(({ kind, used }) => [kind, used])).toEqual([
    ['requests', 1],
    ['budget', 1],
  ]);
  const costs = async (by: 'key' | 'group' | 'model') =>
    (await query({ type: 'usage', by })).map(({ name, costUsd }) => [name, Math.round((costUsd ?? 0) * 100)]);
  expect(await costs('key')).toEqual([
    ['k1', 100],
    ['shadow:default', 10],
  ]);
  expect(await costs('group')).toEqual([
    ['default', 100],
    ['shadow:default', 10],
  ]);
  expect(await costs('model')).toEqual([
    ['gpt-x', 100],
    ['cheap', 10],
  ]);
  const over = { sinceMs: Date.now() - 60_000, untilMs: Date.now() + 60_000, stepMs: 120_000 };
  const steps = await query({ type: 'usage-over-time', by: 'group', ...over });
  expect([...new Set(steps.map(({ name }) => name))].sort()).toEqual(['default', 'shadow:default']);
  expect(await query({ type: 'clients' })).toHaveLength(1);
});

describe('answers are compared by what they say', () => {
  const call = (id: string, given: string) => ({
    tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: given } }],
  });

  test.each([
    ['equal texts', completion('Yes.'), completion(' Yes.\n'), true],
    ['equal JSON', completion('{"a":1,"b":2}'), completion('{ "b": 2, "a": 1 }'), true],
    ['equal calls', completion('', call('x', '{"q":1}')), completion('', call('y', '{ "q": 1 }')), true],
    ['other calls', completion('', call('x', '{"q":1}')), completion('', call('y', '{"q":2}')), false],
  ])('%s', async (_what, first, second, isSame) => {
    targets = await startTargets();
    targets.one.answer((_request, response) => json(response, first));
    targets.two.answer((_request, response) => json(response, second));
    const { id } = await targets.ask(question);
    expect((await targets.shadowOf(id)).sameAnswer).toBe(isSame);
  });

  test('of a stream as well', async () => {
    targets = await startTargets();
    const stream = (pieces: string[]) => (_request: unknown, response: Parameters<typeof eventStream>[0]) => {
      eventStream(response);
      for (const content of pieces) {
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
      }
      response.write('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n');
      response.end('data: [DONE]\n\n');
    };
    targets.one.answer(stream(['Be', 'cause']));
    targets.two.answer(stream(['B', 'ecau', 'se']));
    const { id } = await targets.ask({ ...question, stream: true });
    expect(await targets.shadowOf(id)).toMatchObject({ stream: true, sameAnswer: true });
  });

  test('of a client of another API', async () => {
    targets = await startTargets();
    targets.two.answer((_request, response) => json(response, completion('Because.')));
    const body = { model: 'gpt-x', max_tokens: 50, messages: question.messages };
    const { id } = await targets.ask(body, '/messages', { 'anthropic-version': '2023-06-01' });
    expect(await targets.shadowOf(id)).toMatchObject({ route: '/v1/messages', sameAnswer: true });
  });
});

describe('a shadow stores nothing and runs nothing', () => {
  const response = { id: 'resp_1', object: 'response', status: 'completed', model: 'gpt-x', output: [] };

  test('a response that would be stored is not stored for its shadow', async () => {
    targets = await startTargets();
    targets.one.answer((_request, answer) => json(answer, response));
    targets.two.answer((_request, answer) => json(answer, { ...response, id: 'resp_2' }));
    const { id } = await targets.ask({ model: 'gpt-x', input: 'Why?', top_p: 1.0 }, '/responses');
    await targets.shadowOf(id);
    expect(JSON.parse(targets.two.seen[0]?.body.toString() ?? '')).toMatchObject({ model: 'cheap', store: false });
    const lost = await targets.gateway.fetch('/responses/resp_2');
    expect(lost.status).toBe(404);
  });

  test.each([
    ['a tool of the provider', { model: 'gpt-x', input: 'Why?', tools: [{ type: 'web_search' }] }],
    ['background work', { model: 'gpt-x', input: 'Why?', background: true }],
  ])('a request with %s gets none', async (_what, body) => {
    targets = await startTargets();
    targets.one.answer((_request, answer) => json(answer, response));
    const { id } = await targets.ask(body, '/responses');
    await targets.gateway.record(id);
    expect((await targets.report()).skipped).toEqual([{ groupId: 'default', reasons: { 'side-effects': 1 } }]);
    expect(targets.two.seen).toHaveLength(0);
    expect(await targets.gateway.record(id)).toMatchObject({ captured: null });
  });

  test('no other request than a conversation gets one', async () => {
    targets = await startTargets();
    targets.one.answer((_request, answer) => json(answer, { object: 'list', data: [], usage: { prompt_tokens: 1 } }));
    const { id } = await targets.ask({ model: 'gpt-x', input: 'Why?' }, '/embeddings');
    await targets.gateway.record(id);
    expect(await targets.report()).toEqual({ summaries: [], skipped: [] });
  });
});
