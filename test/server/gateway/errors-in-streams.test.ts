/** Errors that a chat service tells in the first event of a stream, in any form: clients of all APIs are told of them as by a status. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { forgetFailures, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream, type ScriptedUpstream, sendPieces, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let event: object = {};

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => {
    const bytes = Buffer.from(`data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`);
    eventStream(response);
    return sendPieces(
      response,
      bytes,
      Array.from({ length: bytes.length - 1 }, (_, at) => at + 1),
    );
  });
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl, { serves: ['chat'] })] } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(async () => {
  upstream.seen.length = 0;
  await forgetFailures(gateway);
});

const message = 'temperature must be non-negative, got -1.';
const said = { message, code: 400 };
const forms: Record<string, object> = {
  nested: { error: { ...said, type: 'BadRequestError' } },
  'vLLM, flat': { object: 'error', ...said, type: 'BadRequestError', param: null },
  'OpenRouter, beside a choice': { id: 'x', error: said, choices: [{ index: 0, delta: {}, finish_reason: 'error' }] },
  'OpenRouter, in a choice': {
    id: 'x',
    choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error', error: said }],
  },
};
const messages = [{ role: 'user', content: 'Hi' }];
const requests: Record<string, [path: string, body: object]> = {
  chat: ['/v1/chat/completions', { model: 'gpt-x', stream: true, messages }],
  responses: ['/v1/responses', { model: 'gpt-x', stream: true, input: 'Hi' }],
  anthropic: ['/v1/messages', { model: 'gpt-x', stream: true, max_tokens: 9, messages }],
  gemini: [
    '/v1beta/models/gpt-x:streamGenerateContent?alt=sse',
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
};

test.each(Object.entries(forms))('%s', async (_form, given) => {
  event = given;
  for (const [client, [path, body]] of Object.entries(requests)) {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${testKey}` };
    const response = await fetch(gateway.origin + path, { method: 'POST', headers, body: JSON.stringify(body) });
    expect([client, response.status]).toEqual([client, 400]);
    expect(await response.json()).toMatchObject({ error: { message } });
    expect(upstream.seen.splice(0)).toHaveLength(1);
  }
});
