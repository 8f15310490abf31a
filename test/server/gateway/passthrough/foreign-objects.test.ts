/** An object of another group is refused wherever a request can name it: every route, member, kind of body, size and spelling. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashOf, mainProvider, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const dialects = ['openai', 'anthropic', 'gemini'] as const;
type ApiName = (typeof dialects)[number];
const groups = dialects.flatMap((id) => [
  { id: `${id}-owner`, passthrough: id },
  { id: `${id}-stranger`, passthrough: id },
]);

/** Made by each API's owner before all tests. */
const object = 'made-Object_1';

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      groups,
      keys: groups.map(({ id }) => ({ id, group: id, hash: hashOf(id) })),
      providers: dialects.map((id) =>
        mainProvider(id === 'openai' ? upstream.baseUrl : upstream.origin, { id, dialect: id }),
      ),
    },
    secrets: Object.fromEntries(dialects.map((id) => [`provider/${id}/c1`, 'x'])),
  });
  upstream.answer((_request, response) => json(response, { id: object }));
  const made = await send('openai', '/v1/files', 'owner', { body: '{}' });
  expect(made.status).toBe(200);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const headersOf: Record<ApiName, (key: string) => Record<string, string>> = {
  openai: (key) => ({ authorization: `Bearer ${key}` }),
  anthropic: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  gemini: (key) => ({ 'x-goog-api-key': key }),
};

type Sent = Pick<RequestInit, 'body' | 'method'> & { headers?: Record<string, string> };

const send = (api: ApiName, path: string, role: string, { headers, ...init }: Sent) =>
  fetch(gateway.origin + path, {
    method: 'POST',
    ...init,
    headers: { 'content-type': 'application/json', ...headers, ...headersOf[api](`${api}-${role}`) },
    ...(init.body instanceof ReadableStream && { duplex: 'half' }),
  } as RequestInit);

/** Whole requests that the provider has received. */
const arrived = () => upstream.seen.length;

async function isRefused(api: ApiName, path: string, init: Sent): Promise<void> {
  const before = arrived();
  const response = await send(api, path, 'stranger', init);
  expect([response.status, await response.text()]).toEqual([404, expect.stringContaining(object)]);
  expect(arrived()).toBe(before);
}

async function isPassed(api: ApiName, path: string, init: Sent): Promise<void> {
  upstream.answer((_request, response) => json(response, {}));
  const before = arrived();
  await (await send(api, path, 'stranger', init)).text();
  expect(arrived()).toBeGreaterThan(before);
}

const text = (value: unknown) => JSON.stringify(value);
const uri = `https://generativelanguage.googleapis.com/v1beta/files/${object}`;

/** By route: what may name an object in it. */
const served: [ApiName, string, object][] = [
  ...[
    { input: [{ role: 'user', content: [{ type: 'input_file', file_id: object }] }] },
    { input: [{ role: 'user', content: [{ type: 'input_image', file_id: object, detail: 'auto' }] }] },
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: uri }] }] },
    { input: [{ type: 'code_interpreter_call', container_id: object, id: 'ci_1', code: '', outputs: [] }] },
    { tools: [{ type: 'file_search', vector_store_ids: ['vs_1', object] }] },
    { tools: [{ type: 'code_interpreter', container: object }] },
    { tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: [object] } }] },
    { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: object } }] },
    { tools: [{ type: 'shell', environment: { skills: [{ type: 'skill_reference', skill_id: object }] } }] },
    { tools: [{ type: 'image_generation', input_image_mask: { file_id: object } }] },
    { prompt: { id: object } },
    { conversation: object },
    { conversation: { id: object } },
  ].map((fields): [ApiName, string, object] => ['openai', '/v1/responses', { model: 'gpt-x', input: 'Hi', ...fields }]),
  ['openai', '/v1/responses/input_tokens', { model: 'gpt-x', input: 'Hi', conversation: object }],
  ['openai', '/v1/responses/compact', { model: 'gpt-x', input: [{ type: 'input_file', file_id: object }] }],
  ['openai', '/v1/audio/speech', { model: 'gpt-x', input: 'Hi', voice: { id: object } }],
  ['openai', '/v1/images/edits', { model: 'gpt-x', prompt: 'Hi', images: [{ file_id: object }] }],
  ['openai', '/v1/images/edits', { model: 'gpt-x', prompt: 'Hi', images: [], mask: { file_id: object } }],
  ['openai', '/v1/videos', { model: 'gpt-x', prompt: 'Hi', input_reference: { file_id: object } }],
  ['openai', '/v1/videos', { model: 'gpt-x', prompt: 'Hi', characters: [{ id: object }] }],
  ...(['openai', 'anthropic', 'gemini'] as const).flatMap((api): [ApiName, string, object][] => [
    [api, '/v1/chat/completions', chat([{ type: 'file', file: { file_id: object } }])],
    [api, '/v1/chat/completions', chat([{ type: 'image_url', image_url: { url: uri } }])],
    [api, '/v1/messages', messages([{ type: 'document', source: { type: 'file', file_id: object } }])],
    [api, '/v1/messages', messages([{ type: 'image', source: { type: 'url', url: uri } }])],
    [api, '/v1/messages', messages([{ type: 'container_upload', file_id: object }])],
    [api, '/v1/messages', { ...messages('Hi'), container: object }],
    [api, '/v1/messages', { ...messages('Hi'), container: { id: object } }],
    [api, '/v1/messages', { ...messages('Hi'), container: { skills: [{ type: 'custom', skill_id: object }] } }],
    [api, '/v1/messages/count_tokens', messages([{ type: 'image', source: { type: 'file', file_id: object } }])],
    ...[
      contents({ fileData: { fileUri: uri } }),
      contents({ file_data: { file_uri: `files/${object}` } }),
      { ...contents({ text: 'Hi' }), cachedContent: `cachedContents/${object}` },
      { ...contents({ text: 'Hi' }), cached_content: `cachedContents/${object}` },
      {
        ...contents({ text: 'Hi' }),
        tools: [{ fileSearch: { fileSearchStoreNames: [`fileSearchStores/${object}`] } }],
      },
    ].map((body): [ApiName, string, object] => [api, '/v1beta/models/gpt-x:generateContent', body]),
  ]),
];

function chat(content: unknown) {
  return { model: 'gpt-x', messages: [{ role: 'user', content }] };
}

function messages(content: unknown) {
  return { ...chat(content), max_tokens: 10 };
}

function contents(part: object) {
  return { contents: [{ role: 'user', parts: [part] }] };
}

describe('on a route that Sluice serves, an object of another group', () => {
  test.each(served)('is refused to %s’s group at %s: %j', (api, path, body) =>
    isRefused(api, path, { body: text(body) }),
  );

  test('is refused behind others, behind long texts, and in the spelling of lenient servers', async () => {
    const files = Array.from({ length: 40 }, (_, index) => ({ type: 'file', file: { file_id: `file-${index}` } }));
    const named = { type: 'file', file: { file_id: object } };
    const long = { type: 'text', text: '\\" }]'.repeat(60_000) };
    for (const content of [
      [...files, named],
      [long, named],
      [named, long],
    ]) {
      await isRefused('openai', '/v1/chat/completions', { body: text(chat(content)) });
    }
    const plain = text(chat([named]));
    for (const spelling of ['"File_Id"', '"file\\u005fid"', '"f\\u0069le_id" ']) {
      await isRefused('openai', '/v1/chat/completions', { body: plain.replace('"file_id"', spelling) });
    }
    const escaped = object.replace('-', '\\u002d');
    await isRefused('openai', '/v1/chat/completions', { body: plain.replace(object, escaped) });
    await isRefused('openai', '/v1/chat/completions', {
      body: gzipSync(plain),
      headers: { 'content-encoding': 'gzip' },
    });
  });

  test('is refused in a form, by any of its names', async () => {
    for (const [name, value] of [
      ['input_reference[file_id]', object],
      ['input_reference', text({ file_id: object })],
      ['characters[0][id]', object],
    ] as const) {
      const form = new FormData();
      for (const [field, content] of [
        ['model', 'gpt-x'],
        ['prompt', 'Hi'],
        [name, value],
      ] as const)
        form.set(field, content);
      await isRefused('openai', '/v1/videos', formOf(await bytesOf(form)));
    }
  });

  test('is refused in a query', () =>
    isRefused('openai', `/v1/chat/completions?file_id=${object}`, { body: text(chat('Hi')) }));

  test('may stand in the words of a prompt, and as the value of anything else', () =>
    isPassed('openai', '/v1/chat/completions', {
      body: text({ ...chat(`What is {"file_id":"${object}"}?`), user: object, metadata: { name: object } }),
    }));

  test('may be named by its own group', async () => {
    upstream.answer((_request, response) => json(response, {}));
    const body = text(chat([{ type: 'file', file: { file_id: object } }]));
    const before = arrived();
    await (await send('openai', '/v1/chat/completions', 'owner', { body })).text();
    expect(arrived()).toBeGreaterThan(before);
  });
});

interface FormBytes {
  bytes: Buffer;
  contentType: string;
}

async function bytesOf(form: FormData): Promise<FormBytes> {
  const response = new Response(form);
  return { bytes: Buffer.from(await response.arrayBuffer()), contentType: response.headers.get('content-type') ?? '' };
}

const formOf = ({ bytes, contentType }: FormBytes): Sent => ({
  body: new Uint8Array(bytes),
  headers: { 'content-type': contentType },
});

/** As bodies of other kinds name an object on a passthrough path. */
const passed: [ApiName, string, object][] = [
  ['openai', '/v1/vector_stores', { file_ids: [object] }],
  ['openai', '/v1/containers', { skills: [{ type: 'skill_reference', skill_id: object }] }],
  ['openai', '/v1/vector_stores/vs_1/file_batches', { files: [{ file_id: object }] }],
  ['openai', '/v1/threads', { messages: [{ attachments: [{ file_id: object, tools: [] }] }] }],
  ['openai', '/v1/threads/runs', { tool_resources: { file_search: { vector_store_ids: [object] } } }],
  ['openai', '/v1/assistants', { tool_resources: { code_interpreter: { file_ids: [object] } } }],
  ['openai', '/v1/fine_tuning/jobs', { training_file: object }],
  ['openai', '/v1/evals/eval_1/runs', { data_source: { type: 'jsonl', source: { type: 'file_id', id: object } } }],
  ['openai', '/v1/videos/edits', { video: { id: object }, prompt: 'Hi' }],
  ['openai', '/v1/uploads/upload_1/complete', { part_ids: [object] }],
  ['openai', '/v1/conversations', { items: [{ content: [{ type: 'input_file', file_id: object }] }] }],
  ['openai', '/v1/realtime/client_secrets', { session: { audio: { output: { voice: { id: object } } } } }],
  ['anthropic', '/v1/messages/batches', { requests: [{ params: messages([{ source: { file_id: object } }]) }] }],
  ['anthropic', '/v1/sessions', { resources: [{ type: 'file', file_id: object }] }],
  ['gemini', '/v1beta/models/x:batchGenerateContent', { batch: { inputConfig: { fileName: `files/${object}` } } }],
  ['gemini', '/v1beta/interactions', { input: [{ type: 'document', uri }] }],
];

describe('on a passthrough path, an object of another group', () => {
  test.each(passed)('is refused to %s’s group at %s, whatever kind of body: %j', async (api, path, body) => {
    for (const contentType of [
      'application/json',
      'APPLICATION/vnd.x+JSON',
      'text/plain',
      '',
      'application/x-www-form-urlencoded',
    ]) {
      await isRefused(api, path, { body: Buffer.from(text(body)), headers: { 'content-type': contentType } });
    }
  });

  test.each(passed)('is refused to %s’s group at %s in long bodies and in pieces: %j', async (api, path, body) => {
    const long = text({ instructions: 'x"\\'.repeat(60_000), ...body, more: ['y'.repeat(100_000)] });
    for (const bytes of [text(body), long]) {
      await isRefused(api, path, { body: Buffer.from(bytes) });
      await isRefused(api, path, { body: inPieces(Buffer.from(bytes), bytes === long ? 10_007 : 1) });
      const headers = { 'content-encoding': 'gzip' };
      await isRefused(api, path, { body: gzipSync(bytes), headers });
    }
  });

  test.each([
    ['a field', 'file_id', object],
    ['a list', 'file_ids[]', object],
    ['a member', 'video[id]', object],
    ['a document', 'session', text({ audio: { output: { voice: { id: object } } } })],
  ])('is refused as %s of a form, short and long, whole and in pieces', async (_kind, name, value) => {
    for (const padding of ['', 'z'.repeat(200_000)]) {
      const form = new FormData();
      form.set('file', new Blob([padding]), 'a.bin');
      form.set(name, value);
      form.set('purpose', 'assistants');
      const { bytes, contentType } = await bytesOf(form);
      await isRefused('openai', '/v1/containers/c1/files', formOf({ bytes, contentType }));
      const body = inPieces(bytes, padding === '' ? 1 : 4_099);
      await isRefused('openai', '/v1/containers/c1/files', { body, headers: { 'content-type': contentType } });
    }
  });

  test('is refused in the lines of a batch that is uploaded', async () => {
    const line = text({ custom_id: '1', method: 'POST', url: '/v1/chat/completions', body: chat('Hi') });
    const naming = text({ custom_id: '2', body: chat([{ type: 'file', file: { file_id: object } }]) });
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', new Blob([`${line}\n`.repeat(2_000), naming, '\n']), 'batch.jsonl');
    await isRefused('openai', '/v1/files', formOf(await bytesOf(form)));
  });

  test('is refused in parameters, of a query or of a body', async () => {
    await isRefused('openai', `/v1/threads/thread_1/messages?run_id=${object}`, { method: 'GET' });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const padding of ['', `&x=${'y'.repeat(100_000)}`]) {
      const body = `purpose=x${padding}&file_id=${object}`;
      await isRefused('openai', '/v1/vector_stores', { body, headers });
    }
  });

  test('is refused as the thousandth id', async () => {
    const file_ids = Array.from({ length: 1_000 }, (_, index) => `file-${index}`);
    await isRefused('openai', '/v1/vector_stores/vs_1/file_batches', {
      body: text({ file_ids: [...file_ids, object] }),
    });
    await isPassed('openai', '/v1/vector_stores/vs_1/file_batches', { body: text({ file_ids }) });
  });

  test('may be named in a file that is no JSON', async () => {
    const form = new FormData();
    form.set('file', new Blob([`{\\rtf1 "file_id":"${object}"}`]), 'a.rtf');
    await isPassed('openai', '/v1/files', formOf(await bytesOf(form)));
  });
});

test.each([
  ['more ids than anybody needs', text({ file_ids: Array.from({ length: 100_001 }, (_, index) => `f${index}`) })],
  ['JSON that parsers read differently', `{/*"*/"file_id":"${object}"}`],
  ['UTF-16', Buffer.from(text({ file_id: object }), 'utf16le')],
  ['lists without end', '['.repeat(20_000)],
])('%s is refused, since nobody could say what it names', async (_kind, body) => {
  const before = arrived();
  const response = await send('openai', '/v1/vector_stores', 'stranger', { body });
  expect(response.status).toBe(400);
  expect(arrived()).toBe(before);
});

test('a body that cannot be decoded is refused on a passthrough path', async () => {
  const before = arrived();
  const body = Buffer.concat([gzipSync('{}'), Buffer.from('x')]);
  const response = await send('openai', '/v1/vector_stores', 'stranger', {
    body,
    headers: { 'content-encoding': 'gzip' },
  });
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('cannot be decoded')]);
  expect(arrived()).toBe(before);
});

function inPieces(bytes: Buffer, size: number): ReadableStream<Uint8Array> {
  let from = 0;
  return new ReadableStream({
    pull(controller) {
      if (from >= bytes.length) controller.close();
      else controller.enqueue(bytes.subarray(from, from + size));
      from += size;
    },
  });
}
