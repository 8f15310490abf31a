/** A field that carries the conversation is translated or refused, whichever API the client speaks; it is never left out. */
import { describe, expect, test } from 'vitest';
import { carriesConversation } from '../../../../server/apis/neutral/fields.ts';
import { Losses } from '../../../../server/apis/neutral/losses.ts';
import { wireTranslations } from '../../../../server/apis/translation/translation-registry.ts';
import { GatewayError } from '../../../../server/contract/errors.ts';
import { conversationWires } from '../../../../server/contract/operations.ts';

const requests = {
  'openai-chat': { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
  'openai-responses': { model: 'm', input: 'Hi' },
  'anthropic-messages': { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  'gemini-generate': { model: 'm', contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
};

/** Known fields of some API, and what others may be called. */
const carrying: Record<string, unknown> = {
  thread: { type: 'continue', previous_message_id: 'msg_1' },
  thread_id: 'thread_1',
  conversation: 'conv_1',
  conversation_id: 'conv_1',
  previous_response_id: 'resp_1',
  previous_interaction_id: 'int_1',
  previous_message_id: 'msg_1',
  parent_message_id: 'msg_1',
  continue_from: 'msg_1',
  cached_content: 'cachedContents/1',
  cachedContent: 'cachedContents/1',
  history: [{ role: 'user', content: 'Before.' }],
  chat_history: [{ role: 'user', content: 'Before.' }],
  previous_messages: [{ role: 'user', content: 'Before.' }],
};

/** What clients send to tell requests apart, or to tune them. */
const harmless: Record<string, unknown> = {
  session_id: 'session-1',
  user_id: 'u',
  trace_id: 't',
  request_id: 'r',
  context_window: 8192,
  parent: 'p',
  continue: true,
  continuous_usage_stats: true,
  history_length: 3,
};

function parse(wire: (typeof conversationWires)[number], more: object): unknown {
  try {
    wireTranslations[wire].parseRequest({ ...requests[wire], ...more }, new Losses());
    return null;
  } catch (thrown) {
    return thrown;
  }
}

describe.each(conversationWires)('for a client of %s', (wire) => {
  test.each(Object.entries(carrying))('"%s" is refused', (name, value) => {
    const thrown = parse(wire, { [name]: value });
    expect(thrown).toBeInstanceOf(GatewayError);
    expect((thrown as GatewayError).kind.status).toBeLessThan(500);
  });

  test.each(Object.keys(carrying))('"%s" without a value is no conversation', (name) => {
    expect(parse(wire, { [name]: null })).toBeNull();
  });

  test.each(Object.entries(harmless))('"%s" does not end a request', (name, value) => {
    expect(parse(wire, { [name]: value })).toBeNull();
  });
});

test('an empty value carries nothing', () => {
  for (const value of ['', [], {}, false, 0]) expect(carriesConversation('history', value)).toBe(false);
});
