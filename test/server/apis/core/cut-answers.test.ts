/** Estimates of streams that were cut: they count words, visible thoughts and arguments of tools, and not the JSON around them. */
import { expect, test } from 'vitest';
import { messagesUsage } from '../../../../server/apis/anthropic/messages.ts';
import { converseUsage } from '../../../../server/apis/bedrock/converse.ts';
import type { UsageFormat } from '../../../../server/apis/core/wire.ts';
import { geminiUsage } from '../../../../server/apis/gemini/usage.ts';
import { chat } from '../../../../server/apis/openai/chat.ts';
import { openaiUsage } from '../../../../server/apis/openai/usage/usage.ts';

/** 200 tokens or so. */
const words = 'the quick brown fox jumps over the lazy dog '.repeat(22);
const thought = words.slice(0, words.length / 2);
const said = words.slice(words.length / 2);

const delta = (more: object) => ({ type: 'content_block_delta', index: 0, delta: more });
const parts = (...list: object[]) => ({ candidates: [{ index: 0, content: { role: 'model', parts: list } }] });
const block = (more: object) => ({ contentBlockDelta: { contentBlockIndex: 0, delta: more } });
const choice = (more: object) => ({ id: 'c', choices: [{ index: 0, delta: more, finish_reason: null }] });

test.each<[string, UsageFormat, object[]]>([
  ['chat', openaiUsage('chat', chat.request), [choice({ reasoning_content: thought }), choice({ content: said })]],
  [
    'messages',
    messagesUsage,
    [
      delta({ type: 'thinking_delta', thinking: thought }),
      delta({ type: 'signature_delta', signature: 'A'.repeat(2_000) }),
      delta({ type: 'input_json_delta', partial_json: said }),
    ],
  ],
  [
    'gemini',
    geminiUsage,
    [
      parts({ text: thought, thought: true, thoughtSignature: 'A'.repeat(2_000) }),
      parts({ functionCall: { args: { said } } }),
    ],
  ],
  ['converse', converseUsage, [block({ reasoningContent: { text: thought } }), block({ text: said })]],
])('of %s', (_, format, events) => {
  const tail = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  const answer = { tail, head: Buffer.alloc(0), bytes: tail.length, contentType: 'text/event-stream' };
  const tokens = format.text?.ofAnswer(answer) ?? 0;
  expect(tokens).toBeGreaterThan(150);
  expect(tokens).toBeLessThan(260);
});

test('of a tail that is nested without end', () => {
  const tail = Buffer.from(`data: {"a":${'['.repeat(8_000)}${']'.repeat(8_000)}}\n\n`);
  const answer = { tail, head: Buffer.alloc(0), bytes: tail.length, contentType: 'text/event-stream' };
  expect(messagesUsage.text?.ofAnswer(answer)).toBe(0);
});
