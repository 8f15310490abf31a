/** What broken attempts have used is counted, and a request is recorded under the model that gave its text. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { answer, chat, data, startTwo, streams, type TwoUpstreams, textOf } from './two-upstreams.ts';

let both: TwoUpstreams;
beforeEach(async () => {
  both = await startTwo({ rescue: 'resume', retries: 0, fallbacks: 1 });
});
afterEach(() => both.stop());

const begun = answer('one', 'Hello ', 'world, ').slice(0, 3);

test('a continuation that breaks off as well is estimated, and the model that gave the text is told', async () => {
  streams(both.one, begun, 'breaks');
  streams(both.two, answer('two', 'Hello ').slice(0, 2), 'breaks');
  const response = await both.gateway.fetch('/chat/completions', chat());
  expect(textOf((await response.text()).replace(/data: \{"error.*\n\n/, ''))).toBe('Hello world, ');
  const { provider, attempts, outcome } = await both.gateway.record();
  expect({ provider, outcome }).toEqual({ provider: 'one', outcome: 'stream-broken' });
  expect(attempts.map((each) => each.usageCertainty)).toEqual(['estimated', 'estimated']);
  expect(attempts.every(({ usage }) => (usage?.outputTokens ?? 0) > 0)).toBe(true);
});

test('a backup that cannot be reached is not the one that answered', async () => {
  streams(both.one, begun, 'breaks');
  both.two.answer((_request, response) => void response.destroy());
  const response = await both.gateway.fetch('/chat/completions', chat());
  await response.text();
  expect(await both.gateway.record()).toMatchObject({ provider: 'one', outcome: 'stream-broken' });
});

test('an error in place of an answer, or one that ended with it, has used nothing', async () => {
  streams(both.one, [data({ error: { message: 'overloaded', type: 'server_error' } })]);
  streams(both.two, answer('two', 'Hello'));
  await (await both.gateway.fetch('/chat/completions', chat())).text();
  expect((await both.gateway.record()).attempts[0]).toMatchObject({ usage: null, costUsd: 0 });
});
