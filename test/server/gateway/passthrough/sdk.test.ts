/** The official SDK gets the same results through Sluice as without it, and the service receives the same requests. */
import { request as httpRequest, type ServerResponse } from 'node:http';
import OpenAI, { toFile } from 'openai';
import { beforeEach, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../../support/gateway.ts';
import { stopAfterEach } from '../../../support/stop-after-each.ts';
import {
  eventStream,
  json,
  type Script,
  type ScriptedUpstream,
  type SeenRequest,
  sendPieces,
  startUpstream,
} from '../../../support/upstream.ts';

/**
 * A service that stores objects as OpenAI does: an object posted to a collection gets an id, and can be read, listed,
 * changed and deleted. The formats follow https://platform.openai.com/docs/api-reference, as far as the official SDK
 * reads them.
 */

/** The prefix of ids in each collection, as at OpenAI. */
const prefixes: Record<string, string> = {
  files: 'file-',
  uploads: 'upload_',
  parts: 'part_',
  batches: 'batch_',
  vector_stores: 'vs_',
  file_batches: 'vsfb_',
  conversations: 'conv_',
  containers: 'cntr_',
  jobs: 'ftjob-',
  evals: 'eval_',
  runs: 'run_',
  skills: 'skill_',
  assistants: 'asst_',
  threads: 'thread_',
  messages: 'msg_',
  completions: 'chatcmpl-',
};

const isId = (segment: string) => Object.values(prefixes).some((prefix) => segment.startsWith(prefix));

/** The stream of a run, which `lib/AssistantStream` of the SDK assembles. */
function runEvents(): Buffer {
  const run = { id: 'run_9', object: 'thread.run', thread_id: 'thread_9', assistant_id: 'asst_9' };
  const message = { id: 'msg_9', object: 'thread.message', thread_id: 'thread_9', role: 'assistant' };
  const delta = (value: string) => ({
    id: 'msg_9',
    object: 'thread.message.delta',
    delta: { content: [{ index: 0, type: 'text', text: { value, annotations: [] } }] },
  });
  const content = [{ type: 'text', text: { value: 'Grüße aus dem Faden', annotations: [] } }];
  const events: [string, unknown][] = [
    ['thread.created', { id: 'thread_9', object: 'thread' }],
    ['thread.run.created', { ...run, status: 'queued' }],
    ['thread.run.in_progress', { ...run, status: 'in_progress' }],
    ['thread.message.created', { ...message, status: 'in_progress', content: [] }],
    ['thread.message.delta', delta('Grüße ')],
    ['thread.message.delta', delta('aus dem Faden')],
    ['thread.message.completed', { ...message, status: 'completed', content }],
    ['thread.run.completed', { ...run, status: 'completed', usage: { total_tokens: 9 } }],
  ];
  const text = events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join('');
  return Buffer.from(`${text}event: done\ndata: [DONE]\n\n`);
}

/** Each service has its own storage, and numbers its objects from one. */
function openaiService(): Script {
  const kept = new Map<string, object>();
  let made = 0;
  return (request, response) => answer(request, response);

  async function answer(request: SeenRequest, response: ServerResponse): Promise<void> {
    const { method, url } = request;
    const path = new URL(url, 'http://upstream').pathname.slice('/v1/'.length);
    const segments = path.split('/');
    const last = segments.at(-1) ?? '';
    response.setHeader('x-request-id', `req_${++made}`);
    response.setHeader('openai-processing-ms', '7');
    const body = fieldsOf(request);
    if (last === 'content' && segments[0] === 'files') return sendFile(response);
    if (body.stream === true) return sendStream(response);
    if (method === 'GET') return isId(last) ? tell(response, last) : list(response, last, url);
    if (method === 'DELETE') return remove(response, last);
    if (isId(last)) return change(response, last, body);
    const owner = segments.at(-2) ?? '';
    if (prefixes[last] === undefined && isId(owner)) return act(response, owner, last);
    create(response, last, body);
  }

  function create(response: ServerResponse, collection: string, body: Record<string, unknown>): void {
    const id = `${prefixes[collection] ?? 'obj_'}${++made}`;
    const object = { id, object: collection, created_at: 1_700_000_000, status: 'completed', ...body };
    kept.set(id, object);
    json(response, object);
  }

  function act(response: ServerResponse, id: string, action: string): void {
    const file = action === 'complete' ? { file: { id: `file-${++made}`, object: 'file', bytes: 9 } } : {};
    const data = ['search', 'items'].includes(action) ? { object: 'list', data: [{ id: 'item_1' }] } : {};
    json(response, { ...kept.get(id), status: action, ...file, ...data });
  }

  function change(response: ServerResponse, id: string, body: Record<string, unknown>): void {
    const object = kept.get(id);
    if (object) kept.set(id, { ...object, ...body });
    tell(response, id);
  }

  function tell(response: ServerResponse, id: string): void {
    const object = kept.get(id);
    if (object) json(response, object);
    else missing(response, id);
  }

  /** Lists one object per page. */
  function list(response: ServerResponse, collection: string, url: string): void {
    const after = new URL(url, 'http://upstream').searchParams.get('after');
    const ids = [...kept.keys()].filter((id) => id.startsWith(prefixes[collection] ?? 'item_'));
    const at = after === null ? 0 : ids.indexOf(after) + 1;
    const data = ids.slice(at, at + 1).map((id) => kept.get(id));
    const last = ids[at] ?? null;
    json(response, { object: 'list', data, first_id: last, last_id: last, has_more: at + 1 < ids.length });
  }

  function remove(response: ServerResponse, id: string): void {
    kept.delete(id);
    json(response, { id, object: 'deleted', deleted: true });
  }
}

function missing(response: ServerResponse, id: string): void {
  const error = { message: `No such object: ${id}`, type: 'invalid_request_error', param: 'id', code: null };
  json(response, { error }, 404);
}

function sendFile(response: ServerResponse): void {
  const bytes = Buffer.from(Array.from({ length: 4096 }, (_, index) => index % 256));
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': bytes.length,
    'content-disposition': 'attachment; filename="a.jsonl"',
  });
  response.end(bytes);
}

async function sendStream(response: ServerResponse): Promise<void> {
  eventStream(response);
  const events = runEvents();
  await sendPieces(response, events, [10, 100, 101, 500]);
}

/** The fields of a JSON body; for a form, only its size. */
function fieldsOf({ headers, body }: SeenRequest): Record<string, unknown> {
  if (body.length === 0) return {};
  return headers['content-type']?.startsWith('application/json') ? JSON.parse(body.toString()) : { bytes: body.length };
}

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeEach(async () => {
  upstream = await stopLater(startUpstream());
  gateway = await stopLater(startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] } }));
});

type Tour = (client: OpenAI) => Promise<unknown>;

async function all(list: AsyncIterable<unknown>): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of list) items.push(item);
  return items;
}

const hello = () => toFile(Buffer.from('{"a":1}\n'), 'grüße.jsonl', { type: 'application/jsonl' });

/** Typical use of each part of the API, from creating to deleting. */
const tours: Record<string, Tour> = {
  files: async ({ files }) => {
    const made = await files.create({ file: await hello(), purpose: 'batch' });
    const content = await files.content(made.id);
    return [
      made,
      await files.retrieve(made.id),
      await all(files.list({ purpose: 'batch', limit: 1 })),
      [...new Uint8Array(await content.arrayBuffer())],
      [content.headers.get('content-disposition'), content.headers.get('content-type')],
      await files.delete(made.id),
    ];
  },
  uploads: async ({ uploads, files }) => {
    const upload = await uploads.create({ bytes: 16, filename: 'a', mime_type: 'text/plain', purpose: 'batch' });
    const parts = [];
    for (let index = 0; index < 2; index++) parts.push(await uploads.parts.create(upload.id, { data: await hello() }));
    const done = await uploads.complete(upload.id, { part_ids: parts.map(({ id }) => id), md5: 'x' });
    const content = await files.content(done.file?.id ?? '');
    const other = await uploads.create({ bytes: 1, filename: 'b', mime_type: 'text/plain', purpose: 'vision' });
    return [upload, parts, done, content.status, await uploads.cancel(other.id)];
  },
  batches: async ({ batches, files }) => {
    const { id } = await files.create({ file: await hello(), purpose: 'batch' });
    const made = await batches.create({
      input_file_id: id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    return [made, await batches.retrieve(made.id), await all(batches.list()), await batches.cancel(made.id)];
  },
  'vector stores': async ({ vectorStores, files }) => {
    const { id } = await files.create({ file: await hello(), purpose: 'assistants' });
    const store = await vectorStores.create({ name: 'Bücher', file_ids: [id] });
    return [
      store,
      await vectorStores.files.create(store.id, { file_id: id }),
      await all(vectorStores.files.list(store.id)),
      await vectorStores.fileBatches.create(store.id, { file_ids: [id] }),
      await all(vectorStores.search(store.id, { query: 'Wo?' })),
      await vectorStores.update(store.id, { name: 'B' }),
      await all(vectorStores.list({ order: 'asc' })),
      await vectorStores.files.delete(id, { vector_store_id: store.id }),
      await vectorStores.delete(store.id),
    ];
  },
  conversations: async ({ conversations }) => {
    const made = await conversations.create({ metadata: { topic: 'x' } });
    const items = [{ type: 'message' as const, role: 'user' as const, content: 'Hi' }];
    return [
      made,
      await conversations.items.create(made.id, { items, include: ['message.output_text.logprobs'] }),
      await all(conversations.items.list(made.id, { order: 'asc' })),
      await conversations.update(made.id, { metadata: { topic: 'y' } }),
      await conversations.retrieve(made.id),
      await conversations.delete(made.id),
    ];
  },
  'assistants and threads': async ({ beta }) => {
    const assistant = await beta.assistants.create({ model: 'gpt-x', name: 'A' });
    const thread = await beta.threads.create({ messages: [{ role: 'user', content: 'Hi' }] });
    const message = await beta.threads.messages.create(thread.id, { role: 'user', content: 'Ho' });
    const asked = { assistant_id: assistant.id };
    const stream = beta.threads.runs.stream(thread.id, asked);
    const events = await all(stream);
    const raw = await all(await beta.threads.createAndRun({ ...asked, stream: true }));
    const run = await beta.threads.runs.create(thread.id, asked);
    return [
      [assistant, thread, message, events, raw, await stream.finalMessages(), await stream.finalRun()],
      await beta.threads.runs.retrieve(run.id, { thread_id: thread.id }),
      await beta.threads.runs.cancel(run.id, { thread_id: thread.id }),
      await all(beta.threads.messages.list(thread.id)),
      [await beta.threads.delete(thread.id), await beta.assistants.delete(assistant.id)],
    ];
  },
  'fine-tuning': async ({ fineTuning, files, models }) => {
    const { id } = await files.create({ file: await hello(), purpose: 'fine-tune' });
    const job = await fineTuning.jobs.create({ model: 'gpt-x', training_file: id });
    return [
      job,
      await fineTuning.jobs.retrieve(job.id),
      await all(fineTuning.jobs.list({ limit: 1 })),
      await all(fineTuning.jobs.listEvents(job.id)),
      await all(fineTuning.jobs.checkpoints.list(job.id)),
      [await fineTuning.jobs.pause(job.id), await fineTuning.jobs.resume(job.id)],
      await fineTuning.jobs.cancel(job.id),
      await models.delete('ft:gpt-x:acme::1'),
    ];
  },
  'stored chat completions': async ({ chat: { completions } }) => [
    await all(completions.list({ model: 'gpt-x', metadata: { a: 'b' }, limit: 1 })),
    await completions.delete('chatcmpl-1'),
    await completions.update('chatcmpl-1', { metadata: { a: 'c' } }).catch(({ status, message }) => [status, message]),
    await completions.retrieve('chatcmpl-1').catch(({ status, requestID }) => [status, requestID]),
    await all(completions.messages.list('chatcmpl-1')),
  ],
  'containers, evals and skills': async ({ containers, evals, skills }) => {
    const container = await containers.create({ name: 'c' });
    const file = await containers.files.create(container.id, { file: await hello() });
    const made = await evals.create({
      data_source_config: { type: 'logs' },
      testing_criteria: [{ type: 'string_check', name: 's', input: 'a', operation: 'eq', reference: 'a' }],
    });
    const skill = await skills.create({ files: [await hello()] });
    return [
      [container, file, made, skill],
      await containers.delete(container.id),
      await evals.update(made.id, { name: 'E' }),
      await all(evals.runs.list(made.id)),
      [await skills.update(skill.id, { default_version: '1' }), await skills.delete(skill.id)],
    ];
  },
  'what is not there': async ({ files, batches }) => {
    const failed = async (work: Promise<unknown>) =>
      work.catch((error) => {
        const { name, status, code, param, type, requestID, message } = error;
        return { name, status, code, param, type, requestID, message, class: error.constructor.name };
      });
    return [await failed(files.retrieve('file-nobody')), await failed(batches.retrieve('batch_nobody'))];
  },
};

/** Hop-by-hop headers, and headers that Sluice itself sets: documented in `docs/api.md`, "What passes". */
const ownHeaders = new Set([
  'authorization',
  'host',
  'connection',
  'accept-encoding',
  'accept-language',
  'sec-fetch-mode',
  'x-sluice-hops',
]);

/** A form's boundary is random. */
function comparable({ method, url, headers, body }: SeenRequest) {
  const boundary = /boundary=(\S+)/.exec(headers['content-type'] ?? '')?.[1] ?? 'no boundary';
  const kept = Object.entries(headers).filter(([name]) => !ownHeaders.has(name));
  const plain = (text: string) => text.replaceAll(boundary, 'BOUNDARY');
  return {
    method,
    url,
    headers: kept.map(([name, value]) => `${name}: ${plain(String(value))}`).sort(),
    body: plain(body.toString('latin1')),
  };
}

async function take(tour: Tour, client: OpenAI) {
  upstream.answer(openaiService());
  const from = upstream.seen.length;
  const result: unknown = JSON.parse(JSON.stringify(await tour(client)));
  return { result, seen: upstream.seen.slice(from).map(comparable) };
}

test.each(Object.entries(tours))('%s: the same as directly', async (_name, tour) => {
  const direct = new OpenAI({ baseURL: upstream.baseUrl, apiKey: 'upstream-secret', maxRetries: 0 });
  const expected = await take(tour, direct);
  const credentials = new Set(upstream.seen.map(({ headers }) => headers.authorization));
  const through = await take(tour, gateway.client);
  expect(through).toEqual(expected);
  expect(expected.seen.length).toBeGreaterThan(1);
  expect([...credentials, ...new Set(upstream.seen.map(({ headers }) => headers.authorization))]).toEqual([
    'Bearer upstream-secret',
    'Bearer upstream-secret',
  ]);
});

/** As in `test/e2e/python-client.test.ts`. */
const pythonHeaders = {
  accept: 'application/json',
  'accept-encoding': 'gzip, deflate',
  connection: 'keep-alive',
  'user-agent': 'OpenAI/Python 2.8.1',
  'x-stainless-lang': 'python',
  'x-stainless-retry-count': '0',
  'x-stainless-read-timeout': '600',
};

/** Sends exactly these headers; fetch would change them. */
function sendAsPython(baseUrl: string, key: string): Promise<string> {
  const boundary = 'b2d1e0a7f53c4f7c8a2f0e5b6a9d8c71';
  const part = `--${boundary}\r\nContent-Disposition: form-data; name=`;
  const type = 'Content-Type: application/octet-stream';
  const body = `${part}"purpose"\r\n\r\nbatch\r\n${part}"file"; filename="a.jsonl"\r\n${type}\r\n\r\n{}\n\r\n--${boundary}--\r\n`;
  const headers = {
    ...pythonHeaders,
    authorization: `Bearer ${key}`,
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': body.length,
  };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(`${baseUrl}/files`, { method: 'POST', headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      response.on('end', () => resolve(`${response.statusCode} ${response.headers['content-type']} ${text}`));
    });
    outgoing.on('error', reject).end(body);
  });
}

test('an upload of the Python client is the same as directly', async () => {
  upstream.answer(openaiService());
  const direct = await sendAsPython(upstream.baseUrl, 'upstream-secret');
  upstream.answer(openaiService());
  expect(await sendAsPython(gateway.baseUrl, testKey)).toBe(direct);
  const [one, other] = upstream.seen.map(comparable);
  expect(other).toEqual(one);
});
