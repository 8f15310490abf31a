/** The official SDK gets the same results through Sluice as without it, and the service receives the same requests. */
import { request as httpRequest } from 'node:http';
import OpenAI, { toFile } from 'openai';
import { beforeEach, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../../support/gateway.ts';
import { stopAfterEach } from '../../../support/stop-after-each.ts';
import { type ScriptedUpstream, type SeenRequest, startUpstream } from '../../../support/upstream.ts';
import { openaiService } from './openai-service.ts';

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
