/**
 * A gateway whose group has shadows: clients request `gpt-x` from provider `one`, and shadows go to `cheap` at provider
 * `two`.
 */
import type { ConfigInput } from '../../../server/contract/config.ts';
import type { RequestView } from '../../../server/contract/request-views.ts';
import type { ShadowReport } from '../../../server/contract/shadow.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

type GroupInput = NonNullable<ConfigInput['groups']>[number];

export interface TwoTargets {
  one: ScriptedUpstream;
  two: ScriptedUpstream;
  gateway: TestGateway;
  /** Posts the body, and resolves when the client has received the complete answer. */
  ask(
    body: object,
    path?: string,
    headers?: Record<string, string>,
  ): Promise<{ status: number; text: string; id: string }>;
  /** The finished shadow of a request. */
  shadowOf(id: string): Promise<RequestView>;
  report(): Promise<ShadowReport>;
  stop(): Promise<void>;
}

export const question = { model: 'gpt-x', messages: [{ role: 'user', content: 'Why?' }] };

/** Costs a dollar at provider `one` and ten cents at provider `two`. */
export function completion(content: string, message: object = {}) {
  return {
    id: 'c1',
    object: 'chat.completion',
    model: 'any',
    choices: [{ index: 0, message: { role: 'assistant', content, ...message }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 500, completion_tokens: 500, total_tokens: 1000 },
  };
}

export async function startTargets(
  group: Partial<GroupInput> = {},
  config: Partial<ConfigInput> = {},
): Promise<TwoTargets> {
  const one = await startUpstream((_request, response) => json(response, completion('Because.')));
  const two = await startUpstream((_request, response) => json(response, completion('Because!')));
  const credentials = [{ id: 'c1' }];
  const gateway = await startGateway({
    config: {
      providers: [
        { id: 'one', baseUrl: one.baseUrl, credentials, models: ['gpt-x'], askUsage: false },
        { id: 'two', baseUrl: two.baseUrl, credentials, models: ['cheap'], askUsage: false },
      ],
      groups: [{ id: 'default', shadow: { target: 'two/cheap', share: 1, dailyUsd: 100 }, ...group }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
      settings: {
        prices: { 'gpt-x': { input: 1000, output: 1000 }, cheap: { input: 100, output: 100, maxOutput: 1000 } },
      },
      ...config,
    },
    secrets: { 'provider/one/c1': 'secret-of-one', 'provider/two/c1': 'secret-of-two' },
  });
  const query = gateway.gateway.query;
  return {
    one,
    two,
    gateway,
    async ask(body, path = '/chat/completions', headers = {}) {
      const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
      const response = await gateway.fetch(path, { ...init, body: JSON.stringify(body) });
      const text = await response.text();
      return { status: response.status, text, id: response.headers.get('x-sluice-request-id') ?? '' };
    },
    shadowOf: (id) =>
      eventually(async () => {
        await gateway.record(id);
        const { shadow } = await query({ type: 'request', id });
        return shadow?.outcome ? shadow : null;
      }),
    report: () => query({ type: 'shadows' }),
    async stop() {
      await gateway.stop();
      await one.stop();
      await two.stop();
    },
  };
}
