/** How many shadows run, what they may cost, and when none is sent. */
import type { ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hashOf, testKey } from '../../support/gateway.ts';
import { json } from '../../support/upstream.ts';
import { completion, question, startTargets, type TwoTargets } from './two-targets.ts';

let targets: TwoTargets;

afterEach(() => targets.stop());

const reasons = async () => (await targets.report()).skipped[0]?.reasons;

/** Sends a request, and waits until the ledger has recorded it. */
async function ask(body: object = question): Promise<string> {
  const { id } = await targets.ask(body);
  await targets.gateway.record(id);
  return id;
}

test('at most four run at the same time, and those beyond are counted', async () => {
  targets = await startTargets();
  const held: ServerResponse[] = [];
  targets.two.answer((_request, response) => {
    held.push(response);
  });
  const ids = [await ask(), await ask(), await ask(), await ask(), await ask()];
  expect(await reasons()).toEqual({ busy: 1 });
  await eventually(() => held.length === 4);
  for (const response of held) json(response, completion('Late.'));
  for (const id of ids.slice(0, 4)) await targets.shadowOf(id);
  expect(targets.two.seen).toHaveLength(4);
  targets.two.answer((_request, response) => json(response, completion('Again.')));
  await targets.shadowOf(await ask());
});

test('the limit of a day holds, whatever the next one might cost', async () => {
  // A shadow costs ten cents, and is estimated at slightly more than eleven at most.
  const shadow = { target: 'two/cheap', share: 1, dailyUsd: 0.25 };
  targets = await startTargets({ shadow });
  const body = { ...question, max_tokens: 1000 };
  await targets.shadowOf(await ask(body));
  await targets.shadowOf(await ask(body));
  await ask(body);
  expect(await reasons()).toEqual({ 'daily-limit': 1 });
  const { summaries } = await targets.report();
  expect(summaries[0]?.costUsd).toBeCloseTo(0.2);
});

test('a model without a price gets none, since its cost could not be held', async () => {
  targets = await startTargets({}, { settings: { prices: {} } });
  await ask();
  expect(await reasons()).toEqual({ unpriced: 1 });
  expect(targets.two.seen).toHaveLength(0);
});

test('a request that the target has answered itself gets none', async () => {
  targets = await startTargets();
  await ask({ ...question, model: 'cheap' });
  expect(await reasons()).toEqual({ 'same-target': 1 });
  expect(targets.two.seen).toHaveLength(1);
});

test('a request that failed or was answered from the cache gets none', async () => {
  targets = await startTargets({ cache: {}, policy: { retries: 0 } });
  const body = { ...question, temperature: 0 };
  await targets.shadowOf(await ask(body));
  await ask(body);
  targets.one.answer((_request, response) => json(response, { error: { message: 'no' } }, 400));
  await ask({ ...question, temperature: 0.5 });
  expect(await reasons()).toEqual({ 'not-answered': 2 });
  expect(targets.two.seen).toHaveLength(1);
});

test('a target that cannot be used now is reported', async () => {
  targets = await startTargets({ providers: ['one'] });
  await ask();
  expect(await reasons()).toEqual({ unavailable: 1 });
});

test('the target may be an alias, of which the first target is asked', async () => {
  const aliases = [{ name: 'small', targets: [{ provider: 'two', model: 'cheap' }] }];
  targets = await startTargets({ shadow: { target: 'small', share: 1, dailyUsd: 1 } }, { aliases });
  expect(await targets.shadowOf(await ask())).toMatchObject({ modelAsked: 'small', modelServed: 'cheap' });
});

test('a group without shadows sends none and keeps nothing', async () => {
  targets = await startTargets({ shadow: null });
  const id = await ask();
  expect(await targets.gateway.gateway.query({ type: 'request', id })).toMatchObject({ shadow: null, capture: null });
  expect(await targets.report()).toEqual({ summaries: [], skipped: [] });
  expect(targets.two.seen).toHaveLength(0);
});

test('the share decides how many requests get one', async () => {
  targets = await startTargets({ shadow: { target: 'two/cheap', share: 0, dailyUsd: 1 } });
  await ask();
  expect(await targets.report()).toEqual({ summaries: [], skipped: [] });
});

test('shadows that run when the program ends are broken off and recorded', async () => {
  targets = await startTargets();
  targets.two.answer(() => {});
  const id = await ask();
  await eventually(() => targets.two.seen.length === 1);
  let ended: { outcome?: string } | undefined;
  targets.gateway.gateway.onEvent(({ event }) => {
    if (event.type === 'request-finished' && event.request.shadowOf?.id === id) ended = event.request;
  });
  await targets.gateway.gateway.stop(0);
  expect(ended).toMatchObject({ outcome: 'client-gone' });
});

test('a summary compares cost and time of the pairs', async () => {
  targets = await startTargets({}, { keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }] });
  await targets.shadowOf(await ask());
  targets.one.answer((_request, response) => json(response, completion('Same.')));
  targets.two.answer((_request, response) => json(response, completion('Same.')));
  await targets.shadowOf(await ask());
  const { summaries } = await targets.report();
  expect(summaries).toEqual([
    expect.objectContaining({
      groupId: 'default',
      provider: 'two',
      model: 'cheap',
      requests: 2,
      answered: 2,
      compared: 2,
      equal: 1,
    }),
  ]);
  expect(summaries[0]?.original).toMatchObject({ costUsd: 1, outputTokens: 500 });
  expect(summaries[0]?.shadow.costUsd).toBeCloseTo(0.1);
  expect(summaries[0]?.shadow.firstByteMs).toBeGreaterThan(0);
});
