/**
 * Errors of every known form, as clients of all APIs meet them on real sockets, whole and streamed: the status decides what an
 * error means and words only refine it, so what is permanent is told as such, once, with what the service said.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  forgetFailures,
  hashOf,
  mainProvider,
  startGateway,
  type TestGateway,
  testKey,
} from '../../support/gateway.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

type Json = Record<string, unknown>;

/** Of a group whose targets are asked once, so that no test waits between attempts. */
const onceKey = 'sk-once';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let status = 400;
let type = 'application/json';
let body = '';

const upstreams = { chat: 'main', anthropic: 'ant', gemini: 'gem' } as const;
type Upstream = keyof typeof upstreams;

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(body);
  });
  gateway = await startGateway({
    secrets: { 'provider/ant/c1': 'x', 'provider/gem/c1': 'x' },
    config: {
      groups: [
        { id: 'default', policy: { retries: 2 } },
        { id: 'once', policy: { retries: 0 } },
      ],
      keys: [
        { id: 'k1', group: 'default', hash: hashOf(testKey) },
        { id: 'k2', group: 'once', hash: hashOf(onceKey) },
      ],
      providers: [
        mainProvider(upstream.baseUrl, { models: ['chat-model'], serves: ['chat'] }),
        { ...mainProvider(upstream.origin, { models: ['anthropic-model'], dialect: 'anthropic' }), id: 'ant' },
        { ...mainProvider(`${upstream.origin}/v1beta`, { models: ['gemini-model'], dialect: 'gemini' }), id: 'gem' },
      ],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(async () => {
  type = 'application/json';
  upstream.seen.length = 0;
  for (const provider of Object.values(upstreams)) await forgetFailures(gateway, provider);
});

interface Told {
  status: number;
  type: string;
  message: string;
}

interface Client {
  upstreams: readonly Upstream[];
  ask(model: string, isStream: boolean): [path: string, body: Json];
  types: Record<number, string>;
}

const clients: Record<string, Client> = {
  anthropic: {
    upstreams: ['chat', 'gemini'],
    ask: (model, stream) => [
      '/v1/messages',
      { model, stream, max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] },
    ],
    types: {
      400: 'invalid_request_error',
      408: 'timeout_error',
      409: 'conflict_error',
      413: 'request_too_large',
      422: 'invalid_request_error',
      424: 'api_error',
      429: 'rate_limit_error',
    },
  },
  gemini: {
    upstreams: ['chat', 'anthropic'],
    ask: (model, isStream) => [
      `/v1beta/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    ],
    types: {
      400: 'INVALID_ARGUMENT',
      408: 'DEADLINE_EXCEEDED',
      409: 'ABORTED',
      413: 'INVALID_ARGUMENT',
      422: 'INVALID_ARGUMENT',
      424: 'INTERNAL',
      429: 'RESOURCE_EXHAUSTED',
    },
  },
  responses: {
    upstreams: ['chat', 'anthropic', 'gemini'],
    ask: (model, stream) => ['/v1/responses', { model, stream, input: 'Hi' }],
    types: { 400: 'invalid_request_error', 422: 'invalid_request_error', 429: 'requests' },
  },
  chat: {
    upstreams: ['anthropic', 'gemini'],
    ask: (model, stream) => ['/v1/chat/completions', { model, stream, messages: [{ role: 'user', content: 'Hi' }] }],
    types: { 400: 'invalid_request_error', 422: 'invalid_request_error', 429: 'requests' },
  },
};

async function ask(client: Client, of: Upstream, isStream: boolean, key = testKey): Promise<Told> {
  const [path, asked] = client.ask(`${of}-model`, isStream);
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const response = await fetch(gateway.origin + path, { method: 'POST', headers, body: JSON.stringify(asked) });
  const { error } = (await response.json()) as { error: { type?: string; status?: string; message: string } };
  return { status: response.status, type: error.status ?? error.type ?? '', message: error.message };
}

const said = 'temperature must be non-negative, got -1.';

/** By service; each is given the status. */
const forms: Record<string, (code: number) => unknown> = {
  'vLLM, flat': (code) => ({ object: 'error', message: said, type: 'BadRequestError', param: null, code }),
  'vLLM, nested': (code) => ({ error: { message: said, type: 'BadRequestError', param: null, code } }),
  Ollama: () => ({ error: { message: said, type: 'api_error', param: null, code: null } }),
  'Ollama, old': () => ({ error: said }),
  Mistral: () => ({ object: 'error', message: said, type: 'invalid_request_message_order', code: '3230' }),
  'llama.cpp': (code) => ({ error: { code, message: said, type: 'not_supported_error' } }),
  Perplexity: (code) => ({ error: { message: said, type: 'invalid_message', code } }),
  Azure: (code) => ({ error: { message: said, type: null, param: 'prompt', code: 'BadRequest', status: code } }),
  'new-api': () => ({ error: { message: said, type: 'new_api_error', param: '', code: 'convert_request_failed' } }),
  'one-api': () => ({ error: { message: said, type: 'upstream_error', code: 'bad_response_status_code' } }),
  Cerebras: () => ({ message: said, type: 'invalid_request_error', param: 'temperature', code: 'wrong_api_format' }),
  FastAPI: () => ({ detail: said }),
  Pydantic: () => ({ detail: [{ type: 'value_error', loc: ['body', 'temperature'], msg: said }] }),
  Cloudflare: () => ({ success: false, result: null, messages: [], errors: [{ code: 5004, message: said }] }),
  'a gateway': () => ({ code: 30_001, msg: said, data: null }),
  'Spring Boot': (code) => ({ timestamp: '2026-01-01', status: code, error: 'Bad Request', message: said, path: '/x' }),
  OAuth: () => ({ error: 'invalid_request', error_description: said }),
  AWS: () => ({ __type: 'SomethingException', Message: said }),
  Google: (code) => ({ error: { code, message: said, status: 'SOMETHING_NEW', details: [] } }),
  'Google, as a list': (code) => [{ error: { code, message: said, status: 'INVALID_ARGUMENT' } }],
  Anthropic: () => ({ type: 'error', error: { type: 'something_error', message: said }, request_id: 'req_1' }),
  OpenRouter: (code) => ({
    error: {
      message: 'Provider returned error',
      code,
      metadata: { raw: JSON.stringify({ error: { message: said } }), provider_name: 'x' },
    },
  }),
  Laravel: () => ({ errors: { temperature: [said] } }),
  Apigee: () => ({ fault: { faultstring: said, detail: { errorcode: 'steps.x' } } }),
  'a gateway, in camel case': () => ({ errCode: 40_001, errMsg: said }),
  'a gateway, in short': () => ({ err: said }),
  'a gateway, below data': () => ({ code: 1, data: { error: { message: said } } }),
  'a gateway, below another name': () => ({ Error: { Code: 'x', Message: said } }),
  gRPC: () => ({ status: { code: 3, message: said } }),
  '.NET, after a byte order mark': () => `\ufeff${JSON.stringify({ error: { message: said } })}`,
  'names of a server error': () => ({ error: { message: said, type: 'server_error', code: 'internal_error' } }),
  'names of an overload': () => ({ type: 'error', error: { type: 'overloaded_error', message: said } }),
  'plain text': () => said,
  'XML of an object store': () =>
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>InvalidArgument</Code><Message>${said}</Message></Error>`,
  "XML of AWS's old services": () =>
    `<ErrorResponse><Error><Type>Sender</Type><Code>x</Code><Message>\n ${said}</Message></Error></ErrorResponse>`,
  'XML of a gateway': () => `<error xmlns="x"><code/><message xml:lang="en-US">${said}</message></error>`,
};

const permanent = [400, 422];
const passing = [408, 409, 424, 429];

describe.each(Object.entries(clients))('a client of %s', (_name, client) => {
  test.each(Object.entries(forms))('is told of an error in the form of %s', async (_service, form) => {
    for (const of of client.upstreams) {
      for (const isStream of [false, true]) {
        for (const each of permanent) {
          status = each;
          const value = form(each);
          type = typeof value === 'string' ? 'text/plain' : 'application/json';
          body = typeof value === 'string' ? value : JSON.stringify(value);
          const told = await ask(client, of, isStream);
          expect(told.message).toContain(said);
          expect([told.status === 400 || told.status === each, told.type]).toEqual([true, client.types[each]]);
          expect(upstream.seen.splice(0)).toHaveLength(1);
        }
      }
    }
  });

  test.each(passing)('is told of status %i as what it is', async (each) => {
    status = each;
    for (const [service, form] of Object.entries(forms)) {
      const value = form(each);
      type = typeof value === 'string' ? 'text/plain' : 'application/json';
      body = typeof value === 'string' ? value : JSON.stringify(value);
      const [of = 'chat'] = client.upstreams;
      const told = await ask(client, of, false, onceKey);
      expect([service, told.status]).toEqual([service, each]);
      if (client.types[each]) expect([service, told.type]).toEqual([service, client.types[each]]);
      expect(told.message).toContain(said);
    }
  });

  test.each([401, 402, 403])('is not told that its own key is wrong by a page with status %i', async (each) => {
    status = each;
    type = 'text/html';
    body = '<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head></html>';
    const [of = 'chat'] = client.upstreams;
    const told = await ask(client, of, false, onceKey);
    expect(told.status).toBeGreaterThanOrEqual(500);
    expect(told.message).toContain('a page of text');
    // The credential is used again at once.
    status = 400;
    type = 'application/json';
    body = JSON.stringify({ error: { message: said } });
    expect((await ask(client, of, false)).message).toContain(said);
  });
});
