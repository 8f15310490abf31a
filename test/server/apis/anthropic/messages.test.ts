import { describe, expect, test } from 'vitest';
import { messages, messagesStream } from '../../../../server/apis/anthropic/messages.ts';
import { errorNameIn } from '../../../../server/apis/core/errors/error-names.ts';
import { failureBy } from '../../../../server/apis/core/errors/verdict.ts';
import { errorIn } from '../../../../server/apis/core/upstream-error.ts';
import { mostPromptTokens } from '../../../../server/apis/core/usage/prompt-estimate.ts';
import { EventsReader } from '../../../../server/exchange/readers/events-reader.ts';
import { JsonBody } from '../../../../server/http/body/json-body.ts';

const { usage, whole, request } = messages;
const bodyOf = (body: object) => new JsonBody(Buffer.from(JSON.stringify(body)));
const asked = { model: 'm', max_tokens: 500, messages: [{ role: 'user', content: 'Hi' }] };
const unknown = { outputTokens: null, contextTokens: null };
const event = (value: { type: string }) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
const kept = (text: string, contentType: string) => ({
  tail: Buffer.from(text),
  head: Buffer.alloc(0),
  bytes: text.length,
  contentType,
});

describe('a request', () => {
  test('may use what it allows, within what the model takes', () => {
    const body = bodyOf(asked);
    expect(usage.worst(body, unknown)).toEqual({ inputTokens: body.size, outputTokens: 500 });
    expect(usage.worst(body, { outputTokens: 100, contextTokens: 20 })).toEqual({ inputTokens: 20, outputTokens: 20 });
    expect(usage.likely(body)).toEqual({ inputTokens: Math.ceil(body.size / 4), outputTokens: 500 });
    expect(usage.likely(bodyOf({ ...asked, max_tokens: 64_000 })).outputTokens).toBe(4096);
  });

  test('has few tokens for what a picture is long, and all of them for a text that is called data', () => {
    const withData = (data: string) => Buffer.from(JSON.stringify({ source: { type: 'base64', data } }));
    expect(mostPromptTokens(withData('A'.repeat(800_000)))).toBeLessThan(110_000);
    const text = withData('some words '.repeat(80_000));
    expect(mostPromptTokens(text)).toBe(text.length);
    const short = withData('AAAA');
    expect(mostPromptTokens(short)).toBe(short.length);
  });

  test('belongs to the same conversation from turn to turn', () => {
    const more = [...asked.messages, { role: 'assistant', content: 'Hello' }, { role: 'user', content: 'And?' }];
    const first = request.conversationOf(bodyOf(asked));
    expect(first).not.toBeNull();
    expect(request.conversationOf(bodyOf({ ...asked, messages: more }))).toBe(first);
  });
});

test.each(['{"device_id":"d","account_uuid":"a","session_id":"s1"}', `user_${'0'.repeat(64)}_account__session_s1`])(
  'a session of Claude Code is one conversation, whatever it begins with: %s',
  (user_id) => {
    const inSession = (content: string) =>
      request.conversationOf(bodyOf({ ...asked, metadata: { user_id }, messages: [{ role: 'user', content }] }));
    expect([inSession('Hi'), inSession('Write a title')]).toEqual(['s1', 's1']);
  },
);

test.each(['u-1', '{"a":1}', '{', 'user_x', 'x'.repeat(5000), 7])('a user is no conversation: %j', (user_id) => {
  const of = (content: string) =>
    request.conversationOf(bodyOf({ ...asked, metadata: { user_id }, messages: [{ role: 'user', content }] }));
  expect(of('Hi')).not.toBe(of('Ho'));
});

describe('usage', () => {
  test('tells apart what was written to a cache for an hour', () => {
    const lifetimes = { ephemeral_5m_input_tokens: 12, ephemeral_1h_input_tokens: 8 };
    const told = { input_tokens: 5, cache_creation_input_tokens: 20, cache_creation: lifetimes, output_tokens: 7 };
    const text = JSON.stringify({ type: 'message', content: [], usage: told });
    expect(usage.read(kept(text, 'application/json'), {}).usage).toEqual({
      ...{ inputTokens: 25, outputTokens: 7, cacheWriteTokens: 20, cacheWriteOneHourTokens: 8 },
    });
  });

  test('counts what was read from a cache, or written to one, as input', () => {
    const told = { input_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 7 };
    const text = JSON.stringify({ type: 'message', content: [], usage: told });
    expect(usage.read(kept(text, 'application/json'), {})).toEqual({
      usage: { inputTokens: 125, outputTokens: 7, cachedInputTokens: 100, cacheWriteTokens: 20 },
      certainty: 'reported',
      status: null,
    });
  });

  test('of a stream is what its last events report, key by key', () => {
    const start = { type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } };
    const text = event(start) + event({ type: 'message_delta', usage: { output_tokens: 30 } } as { type: string });
    const read = usage.read(kept(text, 'text/event-stream'), {});
    expect([read.usage, read.certainty]).toEqual([{ inputTokens: 9, outputTokens: 30 }, 'reported']);
    expect(usage.read(kept(event({ type: 'ping' }), 'text/event-stream'), {}).usage).toBeNull();
  });

  test('of a stream keeps a count that a later event leaves open', () => {
    const start = { type: 'message_start', message: { usage: { input_tokens: 9, cache_read_input_tokens: 4 } } };
    const open = { input_tokens: null, cache_read_input_tokens: null, output_tokens: 30 };
    const text = event(start) + event({ type: 'message_delta', usage: open } as { type: string });
    const read = usage.read(kept(text, 'text/event-stream'), {});
    expect(read.usage).toEqual({ inputTokens: 13, outputTokens: 30, cachedInputTokens: 4 });
  });
});

describe('an error', () => {
  const error = (type: string, message = 'x') => errorIn({ type: 'error', error: { type, message } });

  test.each([
    [400, error('invalid_request_error'), 'rejected', false],
    [400, error('invalid_request_error', 'prompt is too long: 9001 tokens > 8192 maximum'), 'too-large', false],
    [401, error('authentication_error'), 'credential', false],
    [402, error('billing_error'), 'quota', false],
    [403, error('permission_error'), 'credential', false],
    // Claude on Bedrock.
    [
      403,
      error('permission_error', "You don't have access to the model with the specified model ID."),
      'model-unavailable',
      false,
    ],
    [404, error('not_found_error', 'model: claude-opus-9'), 'model-unavailable', false],
    [404, error('not_found_error', 'File not found: file_1'), 'rejected', false],
    [404, null, 'model-unavailable', false],
    [
      400,
      error('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
      'quota',
      false,
    ],
    [400, error('invalid_request_error', 'You have reached your specified API usage limits.'), 'quota', false],
    [429, error('rate_limit_error'), 'rate-limit', true],
    [529, error('overloaded_error'), 'transient', true],
    [500, null, 'transient', true],
    [418, null, 'rejected', false],
  ])('of status %i is known for what it is', (status, said, found, retryable) => {
    const failure = failureBy({ status, headers: { 'retry-after': '3' }, error: said, isAboutJob: false });
    expect(failure).toMatchObject({ class: found, retryable, retryAfterMs: 3000 });
  });

  test('about a model that the credential may not use says so', () => {
    const ofStatus = (status: number, type: string) => {
      const said = error(type, "You don't have access to the model with the specified model ID.");
      return failureBy({ status, headers: {}, error: said, isAboutJob: false });
    };
    expect(ofStatus(403, 'permission_error').isDenied).toBe(true);
    expect(ofStatus(404, 'not_found_error')).not.toHaveProperty('isDenied');
  });

  test('of a prompt that is too long tells how much the model takes', () => {
    const said = error('invalid_request_error', 'prompt is too long: 9001 tokens > 8192 maximum');
    const failure = failureBy({ status: 400, headers: {}, error: said, isAboutJob: false });
    expect(failure.contextTokens).toBe(8192);
  });

  test('of a limit that the account’s owner enforces is not retried', () => {
    const details = { error_code: 'enforced_spend_limit_reached' };
    const said = errorIn({ type: 'error', error: { type: 'rate_limit_error', message: 'x', details } });
    const failure = failureBy({ status: 429, headers: {}, error: said, isAboutJob: false });
    expect(failure).toEqual({ class: 'quota', retryable: false, retryAfterMs: null });
  });

  test('about an object that the path names is not sent to another provider', () => {
    const said = error('not_found_error', 'model');
    expect(failureBy({ status: 404, headers: {}, error: said, isAboutJob: true }).class).toBe('rejected');
    expect(failureBy({ status: 409, headers: {}, error: null, isAboutJob: true }).class).toBe('rejected');
  });

  test('in the place of an answer has the status that it should have had', () => {
    const top = { type: 'error', error: { type: 'overloaded_error', message: 'x' } };
    expect(whole.judge(top)).toMatchObject({ kind: 'error', status: 529 });
    expect(whole.judge({ type: 'message', content: [] })).toEqual({ kind: 'answer' });
  });

  test('at the end of a stream is named by its type', () => {
    const end = event({ type: 'error', error: { type: 'overloaded_error', message: 'x' } } as { type: string });
    expect([errorNameIn(end, 'type'), errorNameIn('', 'type')]).toEqual(['overloaded_error', null]);
  });
});

describe('a stream', () => {
  const reader = () =>
    new EventsReader({ format: messagesStream, answers: 1, stripUsage: false, text: null, headers: {} });
  const begun = event({ type: 'message_start' }) + event({ type: 'content_block_start' });

  test('is complete with message_stop, which does not say why it ends', () => {
    const complete = reader();
    complete.read(Buffer.from(begun + event({ type: 'message_stop' })));
    expect(complete.end()).toEqual([
      { kind: 'error-event', message: expect.stringContaining('reason') },
      { kind: 'complete' },
    ]);
    const cut = reader();
    cut.read(Buffer.from(begun));
    expect(cut.end()).toMatchObject([{ kind: 'break', event: expect.stringMatching(/^event: error\ndata: /) }]);
  });

  test('that begins with an error is an error', () => {
    const failed = reader();
    const error = { type: 'error', error: { type: 'rate_limit_error', message: 'Slow' } } as { type: string };
    expect(failed.read(Buffer.from(event({ type: 'ping' }) + event(error)))).toMatchObject([
      { kind: 'fail', reason: { kind: 'answer', failure: { class: 'rate-limit' }, answer: { status: 429 } } },
    ]);
  });
});
