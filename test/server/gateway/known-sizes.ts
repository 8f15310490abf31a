/**
 * Under a hard budget, a request that refers to a file uploaded through Sluice or to an earlier response reserves their
 * size instead of the model's whole window. On the given store, also after a restart.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, type TestGateway, testKey } from '../../support/gateway.ts';
import { type ThinkingApi, thinkingProviders } from '../../support/thinking-upstream.ts';
import { json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';

/** Starts a gateway on the data of the current test, which is kept when it stops. */
export type StartOnData = (config: Partial<ConfigInput>) => Promise<TestGateway>;

type Named = { body: object } | { upload: [path: string, headers: Record<string, string>, body: string | FormData] };

interface Reference {
  api: ThinkingApi;
  path: string;
  /** Makes `id`. */
  make: Named;
  id: string;
  body(id: string): object;
}

const bytes = 2_000;
/** What each answer reports, however much it refers to. */
const inputTokens = 2_000;
const outputTokens = 10;
const usdPerToken = 0.001;
const hardUsd = 50;
const budget = { unit: 'usd', amount: hardUsd, per: 'day', hard: true } as const;
const otherKey = 'sk-of-another-group';
const anthropic = { 'anthropic-version': '2023-06-01' };
const geminiUri = 'https://generativelanguage.googleapis.com/v1beta/files/';

const form = () => {
  const fields = new FormData();
  fields.set('purpose', 'user_data');
  fields.set('file', new Blob(['x'.repeat(bytes)], { type: 'text/plain' }), 'a.txt');
  return fields;
};
const inFile = (file_id: string) => [{ role: 'user', content: [{ type: 'input_file', file_id }] }];

const references: Record<string, Reference> = {
  'a file of a chat': {
    api: 'chat',
    path: '/v1/chat/completions',
    make: { upload: ['/v1/files', {}, form()] },
    id: 'file-1',
    body: (file_id) => ({
      max_completion_tokens: outputTokens,
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_id } }] }],
    }),
  },
  'a file of a response': {
    api: 'responses',
    path: '/v1/responses',
    make: { upload: ['/v1/files', {}, form()] },
    id: 'file-1',
    body: (id) => ({ input: inFile(id), max_output_tokens: outputTokens }),
  },
  'an earlier response': {
    api: 'responses',
    path: '/v1/responses',
    make: { body: { input: 'Hi', max_output_tokens: outputTokens } },
    id: 'resp_1',
    body: (id) => ({ input: 'Go on', previous_response_id: id, max_output_tokens: outputTokens }),
  },
  'a streamed earlier response': {
    api: 'responses',
    path: '/v1/responses',
    make: { body: { input: 'Hi', stream: true, max_output_tokens: outputTokens } },
    id: 'resp_1',
    body: (id) => ({ input: 'Go on', previous_response_id: id, max_output_tokens: outputTokens }),
  },
  'a file of Anthropic': {
    api: 'messages',
    path: '/v1/messages',
    make: { upload: ['/v1/files', anthropic, form()] },
    id: 'file_1',
    body: (file_id) => ({
      max_tokens: outputTokens,
      messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id } }] }],
    }),
  },
  'a file of Gemini': {
    api: 'gemini',
    path: '/v1beta/models/gemini-3-pro:generateContent',
    make: { upload: ['/upload/v1beta/files', { 'x-goog-upload-offset': '0' }, 'x'.repeat(bytes)] },
    id: 'abc',
    body: (id) => ({
      contents: [{ parts: [{ fileData: { fileUri: geminiUri + id } }] }],
      generationConfig: { maxOutputTokens: outputTokens },
    }),
  },
};

const usage = { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
const response = (id: string) => ({
  ...{ id, object: 'response', created_at: 1, model: 'm', status: 'completed', error: null, output: [], usage },
});
const answers: Partial<Record<ThinkingApi, object>> = {
  chat: {
    ...{ id: 'c', object: 'chat.completion', model: 'm' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens },
  },
  messages: {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
    content: [{ type: 'text', text: 'Yes.' }],
    usage: { input_tokens: inputTokens, output_tokens: outputTokens },
  },
  gemini: {
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Yes.' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: inputTokens, candidatesTokenCount: outputTokens },
    modelVersion: 'm',
  },
};

export function describeKnownSizes(startOnData: StartOnData): void {
  let upstream: ScriptedUpstream;
  let gateway: TestGateway;
  let reference: Reference;
  /** Answers wait until all requests have been refused or are running. */
  let allAsked = Promise.resolve();
  const whenAllAsked = (answer: () => void) => void allAsked.then(answer);
  beforeEach(async () => {
    allAsked = Promise.resolve();
    upstream = await startUpstream();
  });
  afterEach(async () => {
    await gateway.stop();
    await upstream.stop();
  });

  async function start(name: string): Promise<void> {
    const found = references[name];
    if (!found) throw new Error(name);
    reference = found;
    let responses = 0;
    upstream.answer(({ url, body }, reply) => {
      if (url.includes('/files')) {
        return json(
          reply,
          reference.api === 'gemini' ? { file: { name: `files/${reference.id}` } } : { id: reference.id },
        );
      }
      const answer = answers[reference.api] ?? response(`resp_${++responses}`);
      if (!JSON.parse(body.toString()).stream) return whenAllAsked(() => json(reply, answer));
      const events = ['response.created', 'response.completed'].map((type) => ({ type, response: answer }));
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
    });
    await restart();
  }

  async function restart(): Promise<void> {
    const { path: base, config, model } = thinkingProviders[reference.api];
    gateway = await startOnData({
      providers: [
        mainProvider(upstream.origin + base, { ...config, models: [model, '*'] }),
      ] as ConfigInput['providers'],
      groups: ['default', 'other'].map((id) => ({ id, passthrough: 'main', unpriced: 'allow' as const })),
      keys: [
        { id: 'k1', group: 'default', hash: hashOf(testKey), limits: { budgets: [budget] } },
        { id: 'k2', group: 'other', hash: hashOf(otherKey) },
      ],
      settings: { prices: { [`main/${model}`]: { input: 1_000, output: 1_000 } } },
    });
  }

  const ask = (body: object, key = testKey) =>
    fetch(gateway.origin + reference.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(
        reference.api === 'gemini' ? body : { model: thinkingProviders[reference.api].model, ...body },
      ),
    });

  async function make(key = testKey): Promise<void> {
    const { make: named } = reference;
    if ('body' in named) {
      const made = await ask(named.body, key);
      expect(made.status).toBe(200);
      await made.text();
      await booked();
      return;
    }
    const [path, headers, body] = named.upload;
    const init = { method: 'POST', headers: { ...headers, authorization: `Bearer ${key}` }, body };
    expect((await fetch(gateway.origin + path, init)).status).toBe(200);
  }

  /** Until the usage of the request is in the ledger. */
  const booked = () =>
    eventually(async () => {
      const { today } = (await (await gateway.fetch('/usage')).json()) as { today: { input_tokens: number } };
      return today.input_tokens > 0;
    });

  async function answeredOf100(body = reference.body(reference.id)): Promise<number> {
    const before = upstream.seen.length;
    let refused = 0;
    let answer = () => {};
    allAsked = new Promise((resolve) => {
      answer = resolve;
    });
    const replies = Array.from({ length: 100 }, async () => {
      const reply = await ask(body);
      if (reply.status !== 200) refused++;
      await reply.arrayBuffer();
      return reply.status;
    });
    await eventually(() => refused + asked(upstream.seen.slice(before)).length === 100);
    answer();
    const statuses = await Promise.all(replies);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    const answered = statuses.filter((status) => status === 200).length;
    expect(asked(upstream.seen.slice(before))).toHaveLength(answered);
    return answered;
  }
  const asked = (seen: readonly SeenRequest[]) => seen.filter(({ url }) => !/\/(?:files|uploads)/.test(url));

  const oneUsd = (inputTokens + outputTokens) * usdPerToken;

  test.each(Object.keys(references))('as many requests at once as the budget allows refer to %s', async (name) => {
    await start(name);
    await make();
    const answered = await answeredOf100();
    // Each reserves at most $3; of the whole window, $128.
    expect(answered).toBeGreaterThanOrEqual(14);
    expect(answered * oneUsd).toBeLessThanOrEqual(hardUsd + oneUsd);
  });

  test.each(Object.keys(references))('the size of %s is known after a restart', async (name) => {
    await start(name);
    await make();
    await gateway.stop();
    await restart();
    expect(await answeredOf100()).toBeGreaterThanOrEqual(14);
  });

  const files = Object.keys(references).filter((name) => name.includes('file'));

  test.each(files)('what Sluice does not know reserves the whole window, unlike %s', async (name) => {
    await start(name);
    await make();
    expect(await answeredOf100(reference.body('unknown-9'))).toBe(1);
  });

  test.each(files)('another group’s object is refused: %s', async (name) => {
    await start(name);
    await make(otherKey);
    const before = upstream.seen.length;
    const reply = await ask(reference.body(reference.id));
    expect(reply.status).toBe(404);
    expect(asked(upstream.seen.slice(before))).toEqual([]);
  });

  test('an earlier response that told no usage reserves the whole window', async () => {
    await start('an earlier response');
    upstream.answer((_, reply) => whenAllAsked(() => json(reply, { ...response('resp_1'), usage: null })));
    await make();
    expect(await answeredOf100()).toBe(1);
  });

  test('one unknown file among known ones reserves the whole window', async () => {
    await start('a file of a response');
    await make();
    const both = [...inFile('file-1'), ...inFile('file-9')];
    expect(await answeredOf100({ input: both, max_output_tokens: outputTokens })).toBe(1);
  });

  test('a file made of parts is not as small as the request that completes it', async () => {
    await start('a file of a response');
    upstream.answer(({ url }, reply) => {
      if (url.includes('/uploads')) return json(reply, { id: 'upload_1', file: { id: 'file-1', bytes: 9_000_000 } });
      whenAllAsked(() => json(reply, response('resp_1')));
    });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"part_ids":["part_1"]}' };
    expect((await gateway.fetch('/uploads/upload_1/complete', init)).status).toBe(200);
    expect(await answeredOf100()).toBe(1);
  });

  test('a response in the background is known once its usage is', async () => {
    await start('an earlier response');
    let status = 'queued';
    upstream.answer(({ method }, reply) => {
      const made = method === 'POST' && status !== 'queued' ? response('resp_2') : { ...response('resp_1'), status };
      whenAllAsked(() => json(reply, made.status === 'queued' ? { ...made, usage: null } : made));
    });
    const made = await ask({ input: 'Hi', background: true, max_output_tokens: 10 });
    expect(made.status).toBe(200);
    await made.text();
    status = 'completed';
    await (await gateway.fetch('/responses/resp_1')).text();
    await booked();
    expect(await answeredOf100()).toBeGreaterThanOrEqual(14);
  });
}
