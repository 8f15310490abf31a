/** A gateway whose only model has two providers, `one` before `two`, each with a scripted upstream. */
import type { ConfigInput } from '../../../server/contract/config.ts';
import { hashOf, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream, type ScriptedUpstream, startUpstream, writePieces } from '../../support/upstream.ts';
import { chunk } from './streams.ts';

type GroupInput = NonNullable<ConfigInput['groups']>[number];
type ProviderInput = NonNullable<ConfigInput['providers']>[number];

export interface TwoUpstreams {
  one: ScriptedUpstream;
  two: ScriptedUpstream;
  gateway: TestGateway;
  stop(): Promise<void>;
}

export async function startTwo(
  policy: GroupInput['policy'],
  more: { two?: Partial<ProviderInput>; config?: Partial<ConfigInput> } = {},
): Promise<TwoUpstreams> {
  const one = await startUpstream();
  const two = await startUpstream();
  const credentials = [{ id: 'c1' }];
  const gateway = await startGateway({
    config: {
      providers: [
        { id: 'one', baseUrl: one.baseUrl, credentials, models: ['gpt-x'] },
        { id: 'two', baseUrl: two.baseUrl, credentials, models: ['gpt-x'], ...more.two },
      ],
      groups: [{ id: 'default', policy }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
      ...more.config,
    },
    secrets: { 'provider/one/c1': 'secret-of-one', 'provider/two/c1': 'secret-of-two' },
  });
  return {
    one,
    two,
    gateway,
    async stop() {
      await gateway.stop();
      await one.stop();
      await two.stop();
    },
  };
}

export const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
export const done = 'data: [DONE]\n\n';

/** The chunks of an answer by `who`, one per piece. */
export function answer(who: string, ...pieces: string[]): string[] {
  const named = { id: `chatcmpl-${who}`, model: `model-of-${who}` };
  return [
    data({ ...chunk({ role: 'assistant', content: '' }), ...named }),
    ...pieces.map((content) => data({ ...chunk({ content }), ...named })),
    data({ ...chunk({}, 'stop'), ...named }),
    done,
  ];
}

/** Sends events, and then ends cleanly, breaks the connection, or stalls. */
export function streams(
  upstream: ScriptedUpstream,
  events: readonly string[],
  then: 'ends' | 'breaks' | 'stalls' = 'ends',
) {
  upstream.answer(async (_request, response) => {
    eventStream(response);
    await writePieces(response, Buffer.from(events.join('')), []);
    if (then === 'ends') response.end();
    else if (then === 'breaks') response.destroy();
  });
}

export const chat = (more: object = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'gpt-x', stream: true, messages: [{ role: 'user', content: 'Hi' }], ...more }),
});

/** The parsed chunks of a stream; `[DONE]` stays a string. */
export function chunksOf(text: string) {
  const events = text.split('\n\n').filter((event) => event.startsWith('data:'));
  return events.map((event) => (event === 'data: [DONE]' ? event : JSON.parse(event.slice('data: '.length))));
}

export function textOf(text: string): string {
  return chunksOf(text)
    .map((one) => one.choices?.[0]?.delta?.content ?? '')
    .join('');
}
