/** 100 requests at once that refer to files, prompts and conversations of 100,000 tokens exceed a hard budget by one at most. */
import { afterEach, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { hashOf, mainProvider, startGateway, testKey } from '../../support/gateway.ts';
import { type ThinkingApi, thinkingProviders } from '../../support/thinking-upstream.ts';
import { json, startUpstream } from '../../support/upstream.ts';

const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});

const file = 'https://example.org/a.pdf';
const chatFile = { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] };
const document = { type: 'document', source: { type: 'url', url: file } };
const promptFile = (part: object) => ({ input: [{ role: 'user', content: [{ type: 'input_file', ...part }] }] });

/** Whole answers, each with 100,000 tokens of input. */
const answers: Partial<Record<ThinkingApi, object>> = {
  chat: {
    id: 'c',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 100_000, completion_tokens: 10, total_tokens: 100_010 },
  },
  responses: {
    ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed', error: null, output: [] },
    usage: { input_tokens: 100_000, output_tokens: 10, total_tokens: 100_010 },
  },
  messages: {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
    content: [{ type: 'text', text: 'Yes.' }],
    usage: { input_tokens: 100_000, output_tokens: 10 },
  },
  gemini: {
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Yes.' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 100_000, candidatesTokenCount: 10 },
    modelVersion: 'm',
  },
};

test.each<[string, string, ThinkingApi, object]>([
  ['a file of a chat', '/v1/chat/completions', 'chat', { ...chatFile, max_completion_tokens: 10 }],
  [
    'a file of a response',
    '/v1/responses',
    'responses',
    { ...promptFile({ file_id: 'file-1' }), max_output_tokens: 10 },
  ],
  ['a file by URL', '/v1/responses', 'responses', { ...promptFile({ file_url: file }), max_output_tokens: 10 }],
  ['a stored prompt', '/v1/responses', 'responses', { prompt: { id: 'pmpt_1' }, max_output_tokens: 10 }],
  ['a conversation', '/v1/responses', 'responses', { conversation: 'conv_1', input: 'Hi', max_output_tokens: 10 }],
  ['a document', '/v1/messages', 'messages', { messages: [{ role: 'user', content: [document] }], max_tokens: 10 }],
  [
    'a file of Gemini',
    '/v1beta/models/gemini-3-pro:generateContent',
    'gemini',
    { contents: [{ parts: [{ fileData: { fileUri: file } }] }], generationConfig: { maxOutputTokens: 10 } },
  ],
])('%s', async (_, path, api, more) => {
  const { path: base, config, model, secret } = thinkingProviders[api];
  const upstream = await startUpstream((_request, response) => {
    setTimeout(() => json(response, answers[api]), 100);
  });
  running.push(() => upstream.stop());
  const limits = { budgets: [{ unit: 'usd', amount: 300, per: 'day', hard: true }] };
  const gateway = await startGateway({
    config: {
      providers: [
        mainProvider(upstream.origin + base, { ...config, models: [model, '*'] }),
      ] as ConfigInput['providers'],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey), limits }] as ConfigInput['keys'],
      settings: { prices: { [`main/${model}`]: { input: 1_000, output: 1_000 } } },
    },
    secrets: { 'provider/main/c1': secret },
  });
  running.push(() => gateway.stop());
  const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify(api === 'gemini' ? more : { model, ...more });
  const statuses = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const reply = await fetch(gateway.origin + path, { method: 'POST', headers, body });
      await reply.arrayBuffer();
      return reply.status;
    }),
  );
  const answered = statuses.filter((status) => status === 200).length;
  expect(answered).toBeGreaterThan(0);
  expect(upstream.seen).toHaveLength(answered);
  // Each costs $100.
  expect(answered).toBeLessThanOrEqual(4);
});
