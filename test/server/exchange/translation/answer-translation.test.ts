import { expect, test } from 'vitest';
import { messagesStream } from '../../../../server/apis/anthropic/messages.ts';
import { anthropicApi } from '../../../../server/apis/anthropic/routes.ts';
import { createTranslator } from '../../../../server/apis/translation/translator.ts';
import { AnswerTranslation } from '../../../../server/exchange/translation/answer-translation.ts';
import { findRoute } from '../../../support/routes.ts';
import { chunk, completion, streamOf } from '../../../support/strict-chat.ts';

function translation(stream = true): AnswerTranslation {
  const translator = createTranslator('anthropic-messages', 'openai-chat');
  if (!translator) throw new Error('unreachable: the two differ');
  const messages = [{ role: 'user', content: 'Hi' }];
  const asked = translator.read(Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, messages, stream })));
  const origin = { provider: 'p', model: 'm', account: 'a' };
  return new AnswerTranslation({
    request: translator.request(asked, { model: 'm', origin }),
    translator,
    api: anthropicApi,
    upstream: findRoute('POST', '/chat/completions').route,
    stream: stream ? messagesStream : null,
    requestId: 'req_1',
    requestValues: 0,
    mayParse: () => true,
    keepReasoning: () => {},
    vectorsApart: async () => null,
  });
}

function translated(pieces: readonly Buffer[]): string {
  const answer = translation();
  const told = pieces.map((piece) => answer.push(piece).toString());
  return told.join('') + answer.end().toString();
}

const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'a', arguments: '{"b":"ü"}' } };
const deltas = [{ reasoning_content: 'Hm' }, { content: 'Grüße ' }, { content: '🌍' }, { tool_calls: [call] }];
const stream = Buffer.from(`: hello\n\n${streamOf(deltas, 'tool_calls')}`);

test('a stream has the same content wherever it is cut', () => {
  const whole = translated([stream]);
  expect(whole).toMatch(/^event: message_start\n.*event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/s);
  for (let at = 1; at < stream.length; at++) {
    expect(translated([stream.subarray(0, at), stream.subarray(at)]), `cut at ${at}`).toBe(whole);
  }
});

test('a stream whose last event lacks its blank line is as complete', () => {
  expect(translated([stream.subarray(0, -2)])).toBe(translated([stream]));
});

test('a break is reported once, and never after the end', () => {
  const error = { message: 'Broken', type: 'server_error', param: null, code: null };
  const broken = translation();
  broken.push(Buffer.from(chunk({ content: 'Once' })));
  expect(broken.errorEvent(error)).toBe(
    'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"Broken"}}\n\n',
  );
  expect(broken.errorEvent(error)).toBe('');
  const complete = translation();
  complete.push(stream);
  expect([complete.errorEvent(error), complete.failure]).toEqual(['', null]);
});

test('a stream that its provider calls complete, and that is not, ends in an error', () => {
  const answer = translation();
  answer.push(Buffer.from(chunk({ content: 'Once' })));
  expect(answer.end().toString()).toMatch(/^event: error\n/);
  expect(answer.failure).toContain('before it was complete');
});

test('a whole answer is a message, or why it is of no use', () => {
  const whole = (value: object, isStream = false) => translation(isStream).whole(Buffer.from(JSON.stringify(value)));
  const hello = completion({ content: 'Hello' });
  expect(JSON.parse(whole(hello).toString())).toMatchObject({ type: 'message', content: [{ text: 'Hello' }] });
  expect(whole(hello, true).toString()).toMatch(/^event: message_start\n.*event: message_stop\n/s);
  expect(whole({ object: 'list' })).toBe('It has no content.');
});
