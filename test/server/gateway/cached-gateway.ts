/** A gateway with one scripted provider, whose groups answer equal requests from memory. */
import type { z } from 'zod';
import type { cacheSchema } from '../../../server/contract/answer-cache.ts';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

type CacheInput = z.input<typeof cacheSchema>;

export const question = { model: 'gpt-x', temperature: 0, messages: [{ role: 'user', content: 'Why?' }] };
export const keyOne = { id: 'k1', group: 'default', hash: hashOf(testKey) };

let answers = 0;

/** Every completion is different, and costs a dollar. */
export function completion() {
  const message = { role: 'assistant', content: `answer ${++answers}` };
  return {
    id: `c${answers}`,
    object: 'chat.completion',
    model: 'gpt-x',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 500, completion_tokens: 500, total_tokens: 1000 },
  };
}

export function startCompletions(): Promise<ScriptedUpstream> {
  return startUpstream((_request, response) => json(response, completion()));
}

/** Starts a gateway with the groups `default` (keys `testKey` and `second`) and `other` (key `third`). */
export function startCached(
  { baseUrl }: ScriptedUpstream,
  cache: CacheInput | null = {},
  more: Partial<ConfigInput> = {},
): Promise<TestGateway> {
  return startGateway({
    config: {
      providers: [mainProvider(baseUrl, { askUsage: false })],
      groups: [
        { id: 'default', cache },
        { id: 'other', cache },
      ],
      keys: [
        keyOne,
        { id: 'k2', group: 'default', hash: hashOf('second') },
        { id: 'k3', group: 'other', hash: hashOf('third') },
      ],
      settings: { prices: { 'gpt-x': { input: 1000, output: 1000 } } },
      ...more,
    },
  });
}

export function askOf(
  sluice: TestGateway,
  body: object,
  headers: Record<string, string> = {},
  path = '/chat/completions',
): Promise<Response> {
  return sluice.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}
