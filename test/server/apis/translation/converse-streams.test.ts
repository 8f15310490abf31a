/**
 * Streams of models that Bedrock serves through Converse, for a chat client. Source: Amazon Bedrock API reference,
 * "ConverseStream".
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bedrockConverse } from '../../../../server/apis/bedrock/translation/translation.ts';
import { sseFraming } from '../../../../server/apis/core/sse-framing.ts';
import type { AnswerEvent } from '../../../../server/apis/neutral/neutral-answer.ts';
import { answerWith, eventsOf, reasoned, toolUse } from '../../../support/strict-bedrock.ts';
import { tries } from '../../../support/sweep.ts';
import { dataOf, everySplit, type Json, streamed, streamOf, translate, type Way, wholeAnswer } from './translating.ts';

const oss = 'openai.gpt-oss-120b-1:0';

const fromChat = (model = oss): Way => ({ from: 'openai-chat', to: 'bedrock-converse', model });

const user = { role: 'user', content: 'Hello' };

const parameters = { type: 'object', properties: { path: { type: 'string' } } };

const tools = [{ type: 'function', function: { name: 'read', parameters } }];

const content = [reasoned('Hm.', 'sig='), { text: 'Hi you' }, toolUse('tooluse_1', 'read', { path: 'a' })];

describe('a stream', () => {
  const request = () => translate(fromChat(), { model: 'm', messages: [user], tools, stream: true });
  const spoken = streamOf(eventsOf(content, 'tool_use'), false);

  test('is the same however it is cut', () => {
    const whole = streamed(request(), [spoken]);
    expect(dataOf(whole).at(-1)).toBe('[DONE]');
    for (const pieces of everySplit(spoken)) expect(streamed(request(), pieces)).toBe(whole);
  });

  test('ends in an error if it breaks off at any event before its stop', () => {
    const events = eventsOf(content, 'tool_use');
    for (let count = 0; count < events.length - 2; count++) {
      expect(dataOf(streamed(request(), [streamOf(events.slice(0, count), false)]))).not.toContain('[DONE]');
    }
  });

  test('without its metadata lacks only the usage', () => {
    const events = eventsOf([{ text: 'Hi you' }]).slice(0, -1);
    const told = dataOf(streamed(request(), [streamOf(events, false)]));
    expect(told.at(-1)).toBe('[DONE]');
  });

  test('whose reasoning is not signed and not closed before the text says both', () => {
    const delta = (index: number, said: Json) => ({ contentBlockDelta: { contentBlockIndex: index, delta: said } });
    const events = [
      { messageStart: { role: 'assistant' } },
      delta(0, { reasoningContent: { text: 'Hm.' } }),
      delta(1, { text: 'Hi' }),
      { messageStop: { stopReason: 'end_turn' } },
    ];
    const told = collected(streamOf(events, false));
    expect(told.map(({ type }) => type)).toEqual(['start', 'thinking', 'seal', 'text', 'stop', 'end']);
  });
});

function collected(stream: Buffer): AnswerEvent[] {
  const parser = bedrockConverse.eventParser(0);
  const events = stream
    .toString()
    .split('\n\n')
    .flatMap((text) => {
      const event = text === '' ? null : sseFraming.readEvent(Buffer.from(text));
      return event ? parser.push(event) : [];
    });
  return [...events, ...parser.end()];
}

const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const block = fc.oneof(
  word.map((text) => ({ text })),
  fc
    .record({ text: word, signature: fc.option(word, { nil: undefined }) })
    .map((said) => reasoned(said.text, said.signature)),
  fc
    .record({ id: word, input: fc.dictionary(word, fc.jsonValue()) })
    .map(({ id, input }) => toolUse(id, 'read', input as Json)),
);

test('a stream holds what the same answer holds in one piece', () => {
  fc.assert(
    fc.property(fc.array(block, { maxLength: 5 }), (blocks) => {
      const whole = wholeAnswer(bedrockConverse, JSON.parse(JSON.stringify(answerWith(blocks))));
      const parts: unknown[] = [];
      let last = '';
      for (const event of collected(streamOf(eventsOf(blocks), false))) {
        if (event.type === 'text' || event.type === 'thinking') {
          if (last === event.type && parts.length > 0) parts.push(`${parts.pop()}${event.text}`);
          else parts.push(`${event.type} ${event.text}`);
        } else if (event.type === 'call') parts.push(`call ${event.id} `);
        else if (event.type === 'arguments') parts.push(`${parts.pop()}${event.text}`);
        else if (event.type === 'seal') parts.push(event.seal);
        last = event.type === 'call-end' ? '' : event.type;
      }
      const said = (whole?.parts ?? []).flatMap((part) => {
        if (part.type === 'call') return [`call ${part.id} ${part.arguments}`];
        if (part.type === 'thinking') return [`thinking ${part.text}`, part.seal];
        return part.type === 'text' ? [`text ${part.text}`] : [];
      });
      expect(joined(parts)).toEqual(joined(said));
    }),
    { numRuns: tries(200), seed: 11 },
  );
});

/** Joins texts of neighbouring blocks, because a stream does not separate them. */
function joined(parts: readonly unknown[]): unknown[] {
  const out: unknown[] = [];
  for (const part of parts) {
    const before = out.at(-1);
    const isMore = typeof part === 'string' && part.startsWith('text ') && typeof before === 'string';
    if (isMore && before.startsWith('text ')) out[out.length - 1] = before + part.slice('text '.length);
    else out.push(part);
  }
  return out;
}
