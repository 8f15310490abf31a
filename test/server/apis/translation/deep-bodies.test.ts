/** Bodies that are nested so deeply that they could not be written again. */
import { expect, test } from 'vitest';
import { estimateRequestTokens } from '../../../../server/apis/translation/translator.ts';
import { answered, moment, sent, streamed, streamOf, translate } from './translating.ts';

function nested(levels: number): string {
  return `${'{"a":'.repeat(levels)}{}${'}'.repeat(levels)}`;
}

const chatToClaude = { from: 'openai-chat', to: 'anthropic-messages', model: 'claude-opus-4-1' } as const;
const responsesToClaude = { ...chatToClaude, from: 'openai-responses' } as const;
const chatToGemini = { from: 'openai-chat', to: 'gemini-generate', model: 'gemini-2.5-pro' } as const;
const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };

test('the unused tool of a request is refused if it is nested too deeply', () => {
  const tool = { type: 'function', name: 'deep', parameters: JSON.parse(nested(450)) };
  const body = {
    model: 'm',
    input: 'Hi',
    tools: [tool],
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] },
  };
  expect(() => sent(responsesToClaude, body)).toThrow('nested more than 400 levels deep');
});

test('metadata that a response would repeat is refused if it is nested too deeply', () => {
  const body = { model: 'm', input: 'Hi', metadata: JSON.parse(nested(450)) };
  expect(() => sent(responsesToClaude, body)).toThrow('nested more than 400 levels deep');
});

test('a body whose tokens are counted is refused if it is nested too deeply', () => {
  const input = nested(3000);
  const body = `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":${input}}]}]}`;
  expect(() => estimateRequestTokens('anthropic-messages', Buffer.from(body))).toThrow(
    'nested more than 400 levels deep',
  );
});

test('a schema of 300 levels is translated', () => {
  const tools = [{ type: 'function', function: { name: 'deep', parameters: JSON.parse(nested(300)) } }];
  const request = translate(chatToClaude, { ...chat, tools });
  expect(answered(request, { content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' })).toBeTruthy();
});

const deepCall = `{"type":"tool_use","id":"t1","name":"n","input":${nested(800)}}`;

test('a whole answer that is nested too deeply is no answer', () => {
  const body = `{"content":[${deepCall}],"stop_reason":"tool_use"}`;
  expect(translate(chatToClaude, chat).whole(Buffer.from(body), moment)).toBeNull();
});

test('an event that is nested too deeply is not translated', () => {
  const claude = streamOf(
    [
      { type: 'message_start', message: { id: 'msg_1' } },
      { type: 'content_block_start', index: 0, content_block: JSON.parse(deepCall) },
    ],
    true,
  );
  const gemini = streamOf(
    [`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"n","args":${nested(800)}}}]}}]}`],
    false,
  );
  for (const [translation, stream] of [
    [chatToClaude, claude],
    [chatToGemini, gemini],
  ] as const) {
    expect(() => streamed(translate(translation, { ...chat, stream: true }), [stream])).toThrow('nested too deeply');
  }
});
