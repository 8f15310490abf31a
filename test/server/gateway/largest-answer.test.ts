/** A model's largest answer is one fact: what is sent as its maximum is what is reserved of a hard budget. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hashOf, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { anthropicKey, bodyOf, send, strictAnthropic, text } from '../../support/strict-anthropic.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let sluice: TestGateway;
/** Answers that wait until they are let go. */
let held: (() => unknown)[];
let onHeld: (() => void) | undefined;

beforeEach(async () => {
  upstream = await startUpstream();
  held = [];
  const answered = strictAnthropic((body, response) => send(response, body, [text('Hi')]));
  upstream.answer((request, response, raw) => {
    held.push(() => answered(request, response, raw));
    onHeld?.();
  });
});
afterEach(async () => {
  await sluice.stop();
  await upstream.stop();
});

async function start(amount: number): Promise<void> {
  const budgets = [{ unit: 'tokens' as const, amount, per: 'day' as const, hard: true }];
  sluice = await startGateway({
    config: {
      providers: [
        { id: 'claude', dialect: 'anthropic', baseUrl: upstream.origin, credentials: [{ id: 'c1' }], models: ['*'] },
      ],
      groups: [{ id: 'default' }],
      keys: [{ id: 'k1', name: 'My app', group: 'default', hash: hashOf(testKey), limits: { budgets } }],
    },
    secrets: { 'provider/claude/c1': anthropicKey },
  });
}

const ask = (model: string) =>
  sluice.fetch('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  });

/** Asks twice, while neither is answered; the status of the second one. */
async function secondStatus(model: string, amount: number): Promise<number> {
  await start(amount);
  const isHeld = () => new Promise<void>((resolve) => (onHeld = resolve));
  const firstHeld = isHeld();
  const first = ask(model);
  await firstHeld;
  const secondHeld = isHeld();
  const second = ask(model);
  await Promise.race([second, secondHeld]);
  for (const answer of held) answer();
  expect((await first).status).toBe(200);
  const { status } = await second;
  await sluice.stop();
  return status;
}

test.each([
  ['claude-3-7-sonnet', 64_000],
  ['claude-3-7-sonnet-20250219', 64_000],
  ['claude-opus-4-0', 32_000],
  ['claude-sonnet-4-0', 64_000],
  ['claude-opus-4-20250514', 32_000],
  ['claude-opus-4.5', 64_000],
  ['claude-opus-5-5', 128_000],
  ['claude-2.1', 4096],
])('%s is asked for at most %i tokens, and as many are reserved', async (model, tokens) => {
  // A hard budget admits requests until what is reserved reaches it.
  expect(await secondStatus(model, tokens + 500)).toBe(200);
  expect(upstream.seen.map((request) => bodyOf(request).max_tokens)).toEqual([tokens, tokens]);
  held = [];
  expect(await secondStatus(model, tokens)).toBe(429);
});
