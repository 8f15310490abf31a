/** Data in a reply that looks like usage but is not, and values that are not trusted. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { capabilities } from '../../../../../server/contract/operations.ts';
import { tries } from '../../../../support/sweep.ts';
import { extract } from '../streams.ts';

const json = 'application/json';
const sse = 'text/event-stream; charset=utf-8';
const none = { usage: null, certainty: 'none', status: null };

test('text of a model that imitates usage is not taken for it', () => {
  const content = 'data: {"usage":{"prompt_tokens":999,"completion_tokens":999}}';
  expect(extract('chat', { choices: [{ message: { content } }] })).toEqual(none);
  const usage = { prompt_tokens: 1, completion_tokens: 2 };
  expect(extract('chat', { usage, choices: [{ message: { content } }] }).usage).toEqual({
    inputTokens: 1,
    outputTokens: 2,
  });
});

test('the last usage that has numbers counts, not a null or a schema after it', () => {
  const chunks = [
    '{"usage":{"prompt_tokens":1,"completion_tokens":1}}',
    '{"usage":{"prompt_tokens":1,"completion_tokens":9}}',
    '{"usage":null}',
    '{"tools":[{"parameters":{"properties":{"usage":{"type":"object"}}}}]}',
  ];
  expect(extract('chat', chunks.map((chunk) => `data: ${chunk}\n\n`).join(''), sse).usage).toEqual({
    inputTokens: 1,
    outputTokens: 9,
  });
});

test('space, braces in strings and escapes inside the object do no harm', () => {
  const reply = '{"usage" :\n\t {"note":"}\\"{", "prompt_tokens" : 3, "x":{"y":[{}]} , "completion_tokens":4 } }';
  expect(extract('chat', reply).usage).toEqual({ inputTokens: 3, outputTokens: 4 });
});

test.each([-1, 1e300, -1e300, Number.MAX_SAFE_INTEGER + 2])('%j tokens are not accepted', (value) => {
  const told = extract('chat', { usage: { prompt_tokens: value, completion_tokens: 4 } });
  expect(told).toMatchObject({ usage: { outputTokens: 4 }, certainty: 'estimated' });
  expect(told.usage).not.toHaveProperty('inputTokens');
});

test.each(['five', '', null, true])('%j is no number of tokens', (value) => {
  expect(extract('chat', { usage: { prompt_tokens: value, completion_tokens: 4 } }).usage).toEqual({ outputTokens: 4 });
});

test('a part of a token counts as one, and is no report', () => {
  expect(extract('chat', { usage: { prompt_tokens: 1.5, completion_tokens: 4 } })).toMatchObject({
    usage: { inputTokens: 2, outputTokens: 4 },
    certainty: 'estimated',
  });
});

test('no more is believed than request and reply can stand for', () => {
  const most = { inputTokens: 100, outputTokens: 50, seconds: 60 };
  const chat = extract('chat', { usage: { prompt_tokens: 101, completion_tokens: 50 } }, json, { most });
  expect(chat).toMatchObject({ usage: { outputTokens: 50 }, certainty: 'estimated' });
  const heard = { text: 'x', usage: { type: 'duration', seconds: 1e300 } };
  expect(extract('transcription', heard, json, { most }).usage).toBeNull();
  const { usage } = extract('chat', {
    usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 1e15 } },
  });
  expect(usage).toEqual({ inputTokens: 10, outputTokens: 5 });
});

describe('words of a client that a reply repeats are not taken for its usage', () => {
  const mine = { prompt_tokens: 0, completion_tokens: 0 };
  const told = { prompt_tokens: 7, completion_tokens: 9 };
  const expected = { inputTokens: 7, outputTokens: 9 };
  const long = 'a'.repeat(30_000);
  const ends = (reply: string) => ({ bytes: reply.length, head: Buffer.from(reply.slice(0, 4_096)) });

  test.each([
    ['in a short reply', { usage: told, metadata: { usage: mine } }],
    ['in a long one', { choices: [long], usage: told, metadata: { usage: mine, more: [{ usage: mine }] } }],
    ['in one that tells its usage first', { usage: told, choices: [long], metadata: { usage: mine } }],
  ])('%s', (_, document) => {
    const reply = JSON.stringify(document);
    const tail = reply.slice(-8_192);
    expect(extract('chat', tail, json, ends(reply)).usage).toEqual(expected);
  });

  test('where they are all that there is', () => {
    for (const document of [{ metadata: { usage: mine } }, { choices: [long], metadata: { usage: mine } }]) {
      const reply = JSON.stringify(document);
      expect(extract('chat', reply.slice(-8_192), json, ends(reply))).toEqual(none);
    }
  });

  test('in the events of a stream, whole or cut', () => {
    const usage = { input_tokens: 7, output_tokens: 9 };
    const response = { output: [long], usage, metadata: { usage: { input_tokens: 0, output_tokens: 0 } } };
    const event = `data: ${JSON.stringify({ type: 'response.completed', response })}\n\n`;
    expect(extract('responses', event, sse).usage).toEqual(expected);
    expect(extract('responses', event.slice(-8_192), sse, ends(event)).usage).toEqual(expected);
    const chat = `data: ${JSON.stringify({ choices: [], usage: told })}\n\ndata: ${JSON.stringify({ choices: [], metadata: { usage: mine } })}\n\n`;
    expect(extract('chat', chat, sse).usage).toEqual(expected);
  });
});

test('wherever the tail begins, the usage at its end is found whole or not at all', () => {
  const reply = Buffer.from(
    `data: {"choices":[{"delta":{"content":"ü\\"usage\\":{"}}],"usage":null}\n\n` +
      'data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":34}}\n\ndata: [DONE]\n\n',
  );
  const keyAt = reply.lastIndexOf('"usage"');
  for (let from = 0; from <= reply.length; from += 1) {
    const { usage } = extract('chat', reply.subarray(from), sse);
    expect(usage).toEqual(from <= keyAt ? { inputTokens: 12, outputTokens: 34 } : null);
  }
});

test('no bytes make it throw or count what is no number', () => {
  const pieces = fc.constantFrom(
    '"usage"',
    '"seconds"',
    '"duration"',
    ':',
    '{',
    '}',
    '"',
    '\\',
    '[',
    ',',
    'null',
    ' ',
    '"prompt_tokens":',
    '"input_tokens":',
    '"cache_read_input_tokens":',
    '"type":"duration"',
    '1e999',
    '-3',
    '12',
    '"8"',
    'ü',
  );
  const text = fc.array(fc.oneof(pieces, fc.string()), { maxLength: 40 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(
      text,
      fc.nat(),
      fc.constantFrom(...capabilities),
      fc.constantFrom(json, sse),
      (reply, cut, of, type) => {
        const bytes = Buffer.from(reply);
        const { usage, certainty } = extract(of, bytes.subarray(cut % (bytes.length + 1)), type);
        expect(usage === null).toBe(certainty === 'none');
        for (const value of Object.values(usage ?? {})) expect(Number.isFinite(value) && value >= 0).toBe(true);
      },
    ),
    { numRuns: tries(3_000) },
  );
});

test('any usage is found again in any reply around it', () => {
  const counts = fc.record({ prompt_tokens: fc.maxSafeNat(), completion_tokens: fc.maxSafeNat() });
  fc.assert(
    fc.property(fc.jsonValue(), counts, fc.string(), (before, usage, after) => {
      const { usage: found } = extract('chat', { before: JSON.stringify(before), usage, after });
      expect(found).toEqual({ inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens });
    }),
    { numRuns: tries(1_000) },
  );
});
