import { describe, expect, test } from 'vitest';
import { mostInput, referredIn } from '../../../../server/apis/core/referred-input.ts';
import { leastWorkOf } from '../../../support/cpu-work.ts';

/** Multiples of what a parser takes for 600 kB, for 7 MB; in time that is not linear it would be thousands. */
const mostWork = 300;

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const input = (...content: object[]) => ({ input: [{ role: 'user', content }] });
const nothing = { isOpen: false, pictures: 0, ids: [], mayShowFiles: false };
const contents = (...parts: object[]) => ({ contents: [{ role: 'user', parts }] });

describe('what a request only refers to is found', () => {
  test.each<[string, unknown]>([
    ['a file of a chat', user({ type: 'file', file: { file_id: 'file-1' } })],
    ['a file by URL in place of its bytes', user({ type: 'file', file: { file_data: 'https://example.org/a.pdf' } })],
    ['a video by URL', user({ type: 'video_url', video_url: { url: 'https://example.org/a.mp4' } })],
    ['a document by URL of Mistral', user({ type: 'document_url', document_url: 'https://example.org/a.pdf' })],
    ['a file of a response', input({ type: 'input_file', file_id: 'file-1' })],
    ['a file by URL of a response', input({ type: 'input_file', file_url: 'https://example.org/a.pdf' })],
    ['a stored image', input({ type: 'input_image', file_id: 'file-1' })],
    ['an item of a conversation', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['vector stores', { input: 'Hi', tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }],
    ['a container', { input: 'Hi', tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }],
    ['files of a container', { tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['f'] } }] }],
    ['a document by URL', user({ type: 'document', source: { type: 'url', url: 'https://example.org/a.pdf' } })],
    ['a stored document', user({ type: 'document', source: { type: 'file', file_id: 'file_1' } })],
    ['an upload to a container', user({ type: 'container_upload', file_id: 'file_1' })],
    [
      'a document in the result of a tool',
      user({
        type: 'tool_result',
        tool_use_id: 't',
        content: [{ type: 'document', source: { type: 'url', url: 'https://example.org/a.pdf' } }],
      }),
    ],
    ['a file of Gemini', contents({ fileData: { fileUri: 'https://example.org/a.mp4' } })],
    ['a file of Gemini in snake case', contents({ file_data: { file_uri: 'gs://a/b' } })],
    ['a cache of Gemini', { ...contents({ text: 'Hi' }), cachedContent: 'cachedContents/1' }],
    ['a name with blanks before the colon', '{"messages":[{"content":[{"file" : { "file_id" \n: "file-1" } }]}]}'],
    ['a name with escaped letters', '{"messages":[{"content":[{"file":{"\\u0066ile_id":"file-1"}}]}]}'],
  ])('%s', (_, body) => {
    expect(mostInput(0, referredIn(bytes(body)), 200_000)).toBe(200_000);
  });

  test.each<[string, unknown]>([
    ['a plain text', user({ type: 'text', text: 'What is "file_id": "file-1" for, and {"type":"url"}?' })],
    [
      'a file within the body',
      user({ type: 'file', file: { filename: 'a', file_data: 'data:application/pdf;base64,AA' } }),
    ],
    ['a document within the body', user({ type: 'document', source: { type: 'base64', data: 'AAAA' } })],
    ['an image within the body', user({ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } })],
    ['the schema of a tool', { tools: [{ input_schema: { properties: { file_id: { type: 'string' }, url: {} } } }] }],
    ['a container that is made anew', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }],
    ['the argument of a tool of that name', user({ type: 'tool_use', input: { container: 'nginx', url: 'http://a' } })],
    ['escaped punctuation and other scripts', '{"messages":[{"content":"\\u003cb\\u003e \\u00e9 \\\\u0066 \\u4e2d"}]}'],
  ])('and not %s', (_, body) => {
    expect(referredIn(bytes(body))).toEqual(nothing);
  });

  test.each<[string, unknown]>([
    ['of a chat', user(...['a', 'b'].map((name) => ({ type: 'image_url', image_url: { url: `https://a/${name}` } })))],
    [
      'of a chat, with a detail before',
      user(...[1, 2].map(() => ({ image_url: { detail: 'low', url: 'https://a/b' } }))),
    ],
    ['of a response', input(...[1, 2].map(() => ({ type: 'input_image', image_url: 'https://a/b' })))],
    ['of messages', user(...[1, 2].map(() => ({ type: 'image', source: { type: 'url', url: 'https://a/b' } })))],
  ])('images by URL %s are counted', (_, body) => {
    expect(referredIn(bytes(body))).toEqual({ ...nothing, pictures: 2 });
  });
});

test('the most that it can be is what is left of the window, or 128,000 where that is unknown', () => {
  const some = { ...nothing, isOpen: true };
  expect(mostInput(100, some, 200_000)).toBe(200_000);
  expect(mostInput(100, some, null)).toBe(128_100);
  expect(mostInput(100, { ...nothing, pictures: 2 }, null)).toBe(10_100);
  expect(mostInput(100, { ...nothing, pictures: 2 }, 8_000)).toBe(8_000);
});

describe('what has an id', () => {
  const gemini = 'https://generativelanguage.googleapis.com/v1beta/files/';
  const sizes = new Map([
    ['file-1', 700],
    ['file-2', 20],
    ['resp_1', 3_000],
  ]);
  const most = (body: unknown, contextTokens: number | null = 200_000) =>
    mostInput(100, referredIn(bytes(body)), contextTokens, (id) => sizes.get(id) ?? null);
  const file = (file_id: string) => ({ type: 'input_file', file_id });

  test.each<[string, number, unknown]>([
    ['a file', 800, input(file('file-1'))],
    ['two files', 820, input(file('file-1'), file('file-2'))],
    ['a file twice', 1_500, input(file('file-1'), file('file-1'))],
    ['an earlier response', 3_100, { previous_response_id: 'resp_1', input: 'Hi' }],
    ['a file and an earlier response', 3_800, { previous_response_id: 'resp_1', ...input(file('file-1')) }],
    ['a file of Anthropic', 800, user({ type: 'document', source: { type: 'file', file_id: 'file-1' } })],
    ['a file of Gemini', 800, contents({ fileData: { fileUri: `${gemini}file-1` } })],
    ['a stored image, of few bytes', 5_100, input({ type: 'input_image', file_id: 'file-2' })],
    ['a stored image of Anthropic', 5_100, user({ type: 'image', source: { type: 'file', file_id: 'file-2' } })],
    ['a stored image of Gemini', 5_100, contents({ fileData: { mimeType: 'image/png', fileUri: `${gemini}file-2` } })],
    ['no earlier response', 100, { previous_response_id: null, input: 'Hi' }],
  ])('counts as what is known of it: %s', (_, tokens, body) => {
    expect(most(body)).toBe(tokens);
  });

  test.each<[string, unknown]>([
    ['is unknown', input(file('file-9'))],
    ['is unknown beside a known one', input(file('file-1'), file('file-9'))],
    ['is named twice, once by an unknown name', '{"file_id":"file-9","file_id":"file-1"}'],
    ['is written with escapes', '{"previous_response_id":"\\u0066ile-1"}'],
    ['is beside a vector store', { ...input(file('file-1')), tools: [{ vector_store_ids: ['vs_1'] }] }],
    ['is in a container, where a model may read it again', user({ type: 'container_upload', file_id: 'file-1' })],
    ['is in the container of a tool', { tools: [{ container: { type: 'auto', file_ids: ['file-1'] } }] }],
    ['is a file elsewhere of the same name', contents({ fileData: { fileUri: 'https://example.org/files/file-1' } })],
    ['is in a list', { input: [{ file_id: ['file-1'] }] }],
    ['is referred to too often to be looked up', input(...Array.from({ length: 33 }, () => file('file-2')))],
  ])('counts as the whole window if it %s', (_, body) => {
    expect(most(body)).toBe(200_000);
  });

  test('is never more than the window, or 128,000 where that is unknown', () => {
    expect(most(input(file('file-1')), 500)).toBe(500);
    sizes.set('file-3', 500_000_000);
    expect(most(input(file('file-3')))).toBe(200_000);
    expect(most(input(file('file-3')), null)).toBe(128_100);
  });
});

test('a body of a million marks is searched in linear time', async () => {
  const many = (count: number) => bytes(`{"a":[${'{"type":"url","image_url":"data:"},'.repeat(count)}0]}`);
  referredIn(many(1_000));
  const body = many(200_000);
  // A body is searched once, so each round has one of its own.
  expect(await leastWorkOf(() => referredIn(Buffer.from(body)), mostWork)).toBeLessThan(mostWork);
});
