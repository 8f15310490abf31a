/**
 * A model's thoughts before a call are returned to it with the call, although chats have no field for their signature.
 */
import { describe, expect, test } from 'vitest';
import {
  callsWithoutReasoning,
  type KeptReasoning,
  withKeptReasoning,
} from '../../../../server/apis/translation/kept-reasoning.ts';
import type { TranslatedRequest } from '../../../../server/apis/translation/translator.ts';
import { streamOf as anthropicStream, text, thought, toolUse } from '../../../support/strict-anthropic.ts';
import { everySplit, type Json, moment, streamed, targetOf, translate, translatorOf, type Way } from './translating.ts';

const claude: Way = { from: 'openai-chat', to: 'anthropic-messages', model: 'claude-opus-5-5' };
const gemini: Way = { from: 'openai-chat', to: 'gemini-generate', model: 'gemini-3-pro' };
const user = { role: 'user', content: 'Hi' };
const tools = [{ type: 'function', function: { name: 'read', parameters: { type: 'object', properties: {} } } }];
const asked = { model: 'm', messages: [user], tools };

function keptOf(request: TranslatedRequest, answer: unknown): KeptReasoning | null {
  const result = request.whole(Buffer.from(JSON.stringify(answer)), moment);
  return result?.ok ? result.reasoning : null;
}

/** The next request of a client that keeps only those parts of an answer that OpenAI's API has. */
function next(ids: readonly string[], content: string | null, more: Json = {}): Json {
  const calls = ids.map((id) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } }));
  const results = ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'x' }));
  return { ...asked, messages: [user, { role: 'assistant', content, tool_calls: calls, ...more }, ...results] };
}

/** What the upstream receives together with the stored reasoning. */
function sentWith(way: Way, body: Json, kept: KeptReasoning | null): Json {
  const translator = translatorOf(way.from, way.to);
  const read = translator.read(Buffer.from(JSON.stringify(body)));
  const seals = kept && new Map([[kept.callId, kept]]);
  const conversation = withKeptReasoning(read.conversation, seals ?? new Map());
  return JSON.parse(translator.request({ ...read, conversation }, targetOf(way.model)).body.toString());
}

const turnOf = ({ messages }: Json) => (messages as Json[])[1]?.content;
const blocks = [
  thought('First.'),
  text('Let me look.'),
  toolUse('toolu_1', 'read', {}),
  thought('Then.'),
  toolUse('toolu_2', 'read', {}),
];
const answer = { id: 'msg_1', content: blocks, stop_reason: 'tool_use', usage: {} };

describe('the thoughts of Claude', () => {
  test('stand before the calls that they stood before', () => {
    const kept = keptOf(translate(claude, asked), answer);
    expect(kept?.callId).toBe('toolu_1');
    expect(turnOf(sentWith(claude, next(['toolu_1', 'toolu_2'], 'Let me look.'), kept))).toEqual(blocks);
  });

  test('are the same of a stream, wherever it is cut', () => {
    const whole = keptOf(translate(claude, asked), answer);
    for (const pieces of everySplit(Buffer.from(anthropicStream(blocks, 'tool_use'))).filter(
      (_, at) => at % 37 === 0,
    )) {
      const request = translate(claude, asked);
      const events = request.events(moment);
      expect(events.reasoning).toBeNull();
      expect(streamed({ events: () => events } as unknown as TranslatedRequest, pieces)).toContain('[DONE]');
      expect(events.reasoning).toEqual(whole);
    }
  });

  test('between text and the first call keep their place', () => {
    const content = [text('I look.'), thought('How?'), toolUse('toolu_1', 'read', {})];
    const kept = keptOf(translate(claude, asked), { ...answer, content });
    expect(turnOf(sentWith(claude, next(['toolu_1'], 'I look.'), kept))).toEqual(content);
  });

  test('take the place of what came back as text alone', () => {
    const content = [thought('How?'), toolUse('toolu_1', 'read', {})];
    const kept = keptOf(translate(claude, asked), { ...answer, content });
    expect(turnOf(sentWith(claude, next(['toolu_1'], null, { reasoning_content: 'How?' }), kept))).toEqual(content);
  });

  test('are left out for another model', () => {
    const kept = keptOf(translate(claude, asked), answer);
    const other = { ...claude, model: 'claude-sonnet-5-5' };
    const sent = sentWith(other, next(['toolu_1', 'toolu_2'], 'Let me look.'), kept);
    expect(turnOf(sent)).toEqual(blocks.filter(({ type }) => type !== 'thinking'));
  });

  test('are left out of another conversation whose call has the same id', () => {
    const content = [thought('How?'), toolUse('call_1', 'read', { path: 'a.txt' })];
    const kept = keptOf(translate(claude, asked), { ...answer, content });
    expect(turnOf(sentWith(claude, next(['call_1'], null), kept))).toEqual([toolUse('call_1', 'read', {})]);
  });

  test('come back to a call whose arguments the client has written with other blanks', () => {
    const content = [thought('How?'), toolUse('call_1', 'read', { path: 'a.txt' })];
    const kept = keptOf(translate(claude, asked), { ...answer, content });
    const body = JSON.parse(JSON.stringify(next(['call_1'], null)).replace('"{}"', '"{ \\"path\\": \\"a.txt\\" }"'));
    expect(turnOf(sentWith(claude, body, kept))).toEqual(content);
  });

  test.each([
    ['without a call', [thought('Hm.'), text('Hello')]],
    ['without a thought', [toolUse('toolu_1', 'read', {})]],
  ])('are not kept of an answer %s', (_case, content) => {
    expect(keptOf(translate(claude, asked), { ...answer, content })).toBeNull();
  });

  test('are looked for where the client has brought them back only until it asks something else', () => {
    const details = { reasoning_details: [{ type: 'reasoning.text', text: 'x', signature: 's' }] };
    const asksAgain = next(['toolu_1'], null, details);
    const lookedUp = (body: Json) =>
      callsWithoutReasoning(translatorOf(claude.from, claude.to).read(Buffer.from(JSON.stringify(body))).conversation);
    expect(lookedUp(asksAgain)).toEqual(['toolu_1']);
    expect(lookedUp({ ...asksAgain, messages: [...(asksAgain.messages as Json[]), user] })).toEqual([]);
  });

  test('are completed by what the client has left out', () => {
    const content = [thought('How?'), { type: 'redacted_thinking', data: 'Ev==' }, toolUse('toolu_1', 'read', {})];
    const request = translate(claude, asked);
    const result = request.whole(Buffer.from(JSON.stringify({ ...answer, content })), moment);
    if (!result?.ok) throw new Error('There is no answer.');
    const { reasoning_details: all } = JSON.parse(result.body.toString()).choices[0].message;
    for (const details of [all, all.slice(1), all.slice(0, 1), all.toReversed()])
      expect(
        turnOf(sentWith(claude, next(['toolu_1'], null, { reasoning_details: details }), result.reasoning)),
      ).toEqual(details.length === 2 && details[0] !== all[0] ? [content[1], content[0], content[2]] : content);
  });

  test('keep their place between texts that the client has in one', () => {
    const content = [thought('First.'), text('I "look".\n'), thought('Then.'), text('There.'), thought('At last.')];
    const result = translate(claude, asked).whole(
      Buffer.from(JSON.stringify({ ...answer, content, stop_reason: 'end_turn' })),
      moment,
    );
    if (!result?.ok) throw new Error('There is no answer.');
    const { message } = JSON.parse(result.body.toString()).choices[0];
    expect(message.content).toBe('I "look".\nThere.');
    expect(turnOf(sentWith(claude, { ...asked, messages: [user, message, user] }, null))).toEqual(content);
  });
});

test('the seals of Gemini’s calls go back with them', () => {
  const parts = [
    { functionCall: { name: 'read', args: {} }, thoughtSignature: 'c2lnbmVk' },
    { functionCall: { name: 'read', args: {} } },
  ];
  const request = translate(gemini, asked);
  const told = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };
  const result = request.whole(Buffer.from(JSON.stringify(told)), moment);
  if (!result?.ok) throw new Error('There is no answer.');
  const { choices } = JSON.parse(result.body.toString());
  const ids = choices[0].message.tool_calls.map(({ id }: { id: string }) => id);
  const { contents } = sentWith(gemini, next(ids, null), result.reasoning);
  expect((contents as Json[])[1]?.parts).toMatchObject([{ thoughtSignature: 'c2lnbmVk' }, { functionCall: {} }]);
});
