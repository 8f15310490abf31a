/**
 * Agents send their whole history with every turn, so the cost of translating it must stay low and grow linearly with
 * its size.
 */
import { describe, expect, test } from 'vitest';
import type { UpstreamWireName, WireName } from '../../../../server/apis/neutral/conversation.ts';
import { cpuMsOf, leastWorkOf } from '../../../support/cpu-work.ts';
import { longHistory, moment, targetOf, translatorOf } from './translating.ts';

const models: Record<UpstreamWireName, string> = {
  'openai-chat': 'kimi-k3',
  'openai-responses': 'gpt-5.4',
  'anthropic-messages': 'claude-sonnet-4-5',
  'gemini-generate': 'gemini-3-pro',
  'bedrock-converse': 'openai.gpt-oss-120b-1:0',
};
const clients = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini-generate'] as const;
const pairs = clients.flatMap((client) =>
  (Object.keys(models) as UpstreamWireName[])
    .filter((upstream) => upstream !== client)
    .map((upstream) => [client, upstream] as const),
);

const kilobyte = 1_000;
const rounds = 9;

/** As a multiple of the reference. The pairs take between 0.9 and 2.5. */
const mostWork = 8;

function translating(client: WireName, upstream: UpstreamWireName, body: Buffer): () => unknown {
  const translator = translatorOf(client, upstream);
  const named = client === 'gemini-generate' ? { model: 'm', stream: true } : undefined;
  return () => translator.request(translator.read(body, named), targetOf(models[upstream])).events(moment);
}

/** The minimum of several rounds, in milliseconds of processor time. */
async function leastMs(client: WireName, upstream: UpstreamWireName, body: Buffer): Promise<number> {
  const work = translating(client, upstream, body);
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) least = Math.min(least, await cpuMsOf(work));
  return least;
}

describe.each(pairs)('a history of %s for %s', (client, upstream) => {
  test('of 200 kB with 60 calls is translated in a few milliseconds', async () => {
    const work = translating(client, upstream, longHistory(client, 200 * kilobyte, 60));
    expect(await leastWorkOf(work, mostWork, rounds)).toBeLessThan(mostWork);
  });

  test('takes about twice as long with twice the length', async () => {
    const once = await leastMs(client, upstream, longHistory(client, 400 * kilobyte, 120));
    const twice = await leastMs(client, upstream, longHistory(client, 800 * kilobyte, 240));
    expect(twice / once).toBeLessThan(3.5);
  });
});
