/** What another thread translates is the same as what this one would, for every pair of APIs. */
import { afterAll, describe, expect, test } from 'vitest';
import type { UpstreamWireName, WireName } from '../../../../server/apis/neutral/conversation.ts';
import { withoutReasoning } from '../../../../server/apis/translation/translation-registry.ts';
import { GatewayError } from '../../../../server/contract/errors.ts';
import { ClientReasoning } from '../../../../server/exchange/translation/client-reasoning.ts';
import { withHistory, withReferredItems } from '../../../../server/exchange/translation/kept-history.ts';
import {
  historyApart,
  isHeavyRequest,
  itemsApart,
  RequestApart,
  unsealedApart,
} from '../../../../server/exchange/translation/request-apart.ts';
import { TranslationThreads } from '../../../../server/exchange/translation/translation-threads.ts';
import type { ReasoningStore } from '../../../../server/store/ports/kept-stores.ts';
import { upstreamStreams } from '../../../bench/conversations.ts';
import * as anthropic from '../../../support/strict-anthropic.ts';
import * as chat from '../../../support/strict-chat.ts';
import * as gemini from '../../../support/strict-gemini.ts';
import * as responses from '../../../support/strict-responses.ts';
import { type Json, streamed, targetOf, translatorOf } from '../../apis/translation/translating.ts';

const threads = new TranslationThreads();
afterAll(() => threads.stop());

const asked: Record<WireName, Json> = {
  'openai-chat': { model: 'm', messages: [{ role: 'user', content: 'Grüße 🌍' }], seed: 12345678901234567890n },
  'openai-responses': { model: 'm', input: 'Grüße 🌍', store: false },
  'anthropic-messages': { model: 'm', max_tokens: 9, top_k: 3, messages: [{ role: 'user', content: 'Grüße 🌍' }] },
  'gemini-generate': { contents: [{ role: 'user', parts: [{ text: 'Grüße 🌍' }] }] },
};
const fromUrl = { model: 'm', stream: true };
const upstreams = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini-generate'] as const;
const wholes: Record<(typeof upstreams)[number], Json> = {
  'openai-chat': chat.completion({ content: 'Hello', tool_calls: [chat.toolCall('c1', 'f', { a: 1 })] }),
  'openai-responses': responses.responseWith([responses.messageWith('Hello')]),
  'anthropic-messages': anthropic.message([anthropic.text('Hello')], 'end_turn'),
  'gemini-generate': gemini.answered([{ text: 'Hello' }]),
};
const pairs = (Object.keys(asked) as WireName[]).flatMap((client) =>
  upstreams.flatMap((upstream) => (client === upstream ? [] : [[client, upstream] as const])),
);
const noReasoning: ReasoningStore = { keep() {}, find: () => new Map(), flush() {}, close() {} };
const inputs = { createdAt: 1_790_000_000, identity: undefined };
const moment = { ...inputs, headers: {}, newId: 'of-no-one' };

function bytesOf(value: Json): Buffer {
  return Buffer.from(JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? Number(each) : each)));
}

function apart(client: WireName, upstream: UpstreamWireName, body: Buffer, reasoning = noReasoning): RequestApart {
  return new RequestApart(threads, {
    way: { kind: 'conversation', client, upstream },
    body,
    values: 9,
    fromUrl: client === 'gemini-generate' ? fromUrl : undefined,
    losses: [],
    reasoning: new ClientReasoning(reasoning, 'k1'),
  });
}

describe('a body that is read in another thread is what it would be here', () => {
  const id = `resp_sluice_${'0'.repeat(32)}`;
  const itemId = `msg_sluice_${'0'.repeat(32)}_0`;
  const kept = {
    ...{ id, groupId: 'g', createdAt: 0, answerId: 'a', input: '"Grüße 🌍"' },
    response: JSON.stringify({ output: [{ type: 'message', id: itemId, role: 'assistant', content: 'Hi' }] }),
  };
  const store = { mayKeep: () => true, keep() {}, find: () => kept, forget() {}, sweep() {}, close() {} };

  test('without its reasoning', async () => {
    const thought = { type: 'thinking', thinking: 'Hm', signature: 'a'.repeat(40) };
    const content = [thought, { type: 'text', text: 'Grüße 🌍' }];
    const wire = 'anthropic-messages';
    for (const messages of [[{ role: 'assistant', content }], [{ role: 'user', content: 'Hi' }]]) {
      const body = Buffer.from(JSON.stringify({ model: 'm', messages }));
      const here = withoutReasoning(wire, body, 'm');
      expect(await unsealedApart(threads, body, { wire, model: 'm' })).toEqual(here);
      expect(here === null).toBe(messages[0]?.role === 'user');
    }
  });

  test('with the conversation that it continues', async () => {
    for (const written of [`{"previous_response_id":"${id}","input":"And?"}`, '[]']) {
      const body = Buffer.from(written);
      expect(await historyApart(threads, body, kept)).toEqual(withHistory(body, kept));
    }
  });

  test('with the items that it names', async () => {
    const body = Buffer.from(`{"input":[{"type":"item_reference","id":"${itemId}"},{"role":"user","content":"Hi"}]}`);
    const whole = await withReferredItems(body, store, 'g', itemsApart(threads));
    expect(whole).toEqual(withReferredItems(body, store, 'g'));
    expect(whole.toString()).toContain('assistant');
    const strange = Buffer.from('{"input":[{"type":"item_reference","id":"msg_1"}]}');
    expect(await withReferredItems(strange, store, 'g', itemsApart(threads))).toBe(strange);
  });
});

describe.each(pairs)('for a client of %s, at an upstream of %s', (client, upstream) => {
  const translator = translatorOf(client, upstream);
  const body = bytesOf(asked[client]);
  const here = () =>
    translator.request(translator.read(body, client === 'gemini-generate' ? fromUrl : undefined), targetOf('m'));

  test('request, whole answer and stream are the same', async () => {
    const [expected, session] = [here(), apart(client, upstream, body)];
    const request = await session.forTarget(targetOf('m'));
    expect(request.body.toString()).toBe(expected.body.toString());
    expect([request.losses, request.inputTokens]).toEqual([expected.losses, expected.inputTokens]);

    const answer = bytesOf(wholes[upstream]);
    const whole = await request.whole(answer, moment);
    const wholeHere = expected.whole(answer, { ...inputs, answerId: () => moment.newId });
    if (!whole?.ok || !wholeHere?.ok) throw new Error('There is no answer.');
    expect(Buffer.from(whole.body).toString()).toBe(wholeHere.body.toString());

    const { begin, events, end } = upstreamStreams[upstream]('text', 50);
    const stream = Buffer.concat([begin, ...events, end]);
    const open = request.stream(() => moment, false);
    const told: Buffer[] = [];
    for (let at = 0; at < stream.length; at += 999) told.push(await open.push(stream.subarray(at, at + 999)));
    told.push(await open.end());
    expect(withoutClock(Buffer.concat(told).toString())).toBe(withoutClock(streamed(here(), [stream])));
    expect(open.state).toMatchObject({ isOver: true, failure: null });
    session.close();
  });
});

/** Streams of a test have no id to fall back on. */
function withoutClock(text: string): string {
  return text.replaceAll(moment.newId, '');
}

test('reasoning that is stored is restored in the other thread', async () => {
  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
  const history = [
    { role: 'user', content: 'x' },
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c1', content: 'y' },
  ];
  const looked: string[] = [];
  const store: ReasoningStore = {
    ...noReasoning,
    find(_keyId, ids) {
      looked.push(...ids);
      return new Map(ids.map((id) => [id, 'of no known form']));
    },
  };
  const session = apart('openai-chat', 'anthropic-messages', bytesOf({ model: 'm', messages: history }), store);
  expect((await session.forTarget(targetOf('m'))).body.toString()).toContain('"tool_use"');
  expect(looked).toEqual(['c1']);
  session.close();
});

test('a request that cannot be translated is refused as it is here, by the field’s name', async () => {
  const session = apart('openai-chat', 'anthropic-messages', Buffer.from('{"model":"m","messages":7}'));
  const refused = await session.forTarget(targetOf('m')).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(GatewayError);
  expect(refused).toMatchObject({ code: 'invalid_value', param: 'messages' });
  session.close();
});

test('two threads at most do it, and none is left of requests that are over', async () => {
  const body = bytesOf(asked['openai-chat']);
  const many = Array.from({ length: 6 }, () => apart('openai-chat', 'anthropic-messages', body));
  await Promise.all(many.map((each) => each.forTarget(targetOf('m'))));
  expect(threads.running).toBe(2);
  for (const each of many) each.close();
});

test('what a thread that has ended was asked fails with an error that tells to ask again', async () => {
  const own = new TranslationThreads();
  const session = own.open();
  const asking = expect(session.ask('render', { target: targetOf('m') })).rejects;
  const failed = asking.toMatchObject({ code: 'overloaded', retryAfterSeconds: 5 });
  await own.stop();
  await failed;
  await expect(session.ask('close', null)).rejects.toMatchObject({ code: 'overloaded' });
  session.close();
});

test('only large requests go there', () => {
  expect(isHeavyRequest({ size: 1024 * 1024, values: 20_000 })).toBe(false);
  expect(isHeavyRequest({ size: 1024 * 1024 + 1 })).toBe(true);
  expect(isHeavyRequest({ size: 70_000, values: 20_001 })).toBe(true);
});
