/** A service is asked what it is before anything is added. */
import type { ServerResponse } from 'node:http';
import https from 'node:https';
import { beforeEach, describe, expect, test } from 'vitest';
import type { CommandInputMap } from '../../../server/contract/commands.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, type SeenRequest, startUpstream } from '../../support/upstream.ts';
import { listen, selfSignedCertificate } from '../transport/harness.ts';
import { type ControlGateway, gatherEvents, refusalOf, startControlGateway } from './control-gateway.ts';

const stopLater = stopAfterEach();
let sluice: ControlGateway;
beforeEach(async () => {
  sluice = await stopLater(startControlGateway());
});

const secret = 'sk-pasted-0123456789';
const credentials = [{ secret }];
const trial = (command: Partial<CommandInputMap['provider.try']>) =>
  sluice.gateway.execute({ type: 'provider.try', provider: {}, ...command });

type Service = (request: SeenRequest, response: ServerResponse) => void;

const openaiError = { error: { message: 'No such thing', type: 'invalid_request_error', code: null } };
const anthropicError = { type: 'error', error: { type: 'invalid_request_error', message: 'messages: required' } };
const geminiError = { error: { code: 400, message: 'Invalid', status: 'INVALID_ARGUMENT' } };
const listed = { object: 'list', data: ['a', 'b', 'c'].map((id) => ({ id, object: 'model' })) };
const anthropicList = {
  data: ['a', 'b', 'c'].map((id) => ({ id, type: 'model', display_name: id, created_at: '2026-01-01T00:00:00Z' })),
  has_more: false,
  first_id: 'a',
  last_id: 'c',
};
const geminiList = {
  models: ['a', 'b', 'c'].map((id) => ({ name: `models/${id}`, supportedGenerationMethods: ['generateContent'] })),
};

/** Answers paths as given, and 404 otherwise. */
function service(paths: Record<string, [status: number, body: unknown]>, unknown: unknown = openaiError): Service {
  return ({ method, url }, response) => {
    const [status, body] = paths[`${method} ${url.replace(/\?.*/, '')}`] ?? [404, unknown];
    json(response, body, status);
  };
}

const openai = service({ 'GET /v1/models': [200, listed], 'POST /v1/chat/completions': [400, openaiError] });
const anthropic = service(
  { 'GET /v1/models': [200, anthropicList], 'POST /v1/messages': [400, anthropicError] },
  anthropicError,
);
/** As coding plans do: nothing but the call. */
const anthropicCallOnly = service({ 'POST /plan/anthropic/v1/messages': [400, anthropicError] }, { code: 404 });
const gemini = service({ 'GET /v1beta/models': [200, geminiList] }, geminiError);
const ollama = service({
  'GET /v1/models': [200, listed],
  'POST /v1/chat/completions': [400, openaiError],
  'POST /v1/messages': [400, anthropicError],
  'GET /api/version': [200, { version: '0.13.0' }],
});
const both = service({
  'GET /v1/models': [200, listed],
  'POST /v1/chat/completions': [400, openaiError],
  'POST /v1/messages': [400, anthropicError],
});
/** Asks for the credential on whatever path. */
const doorkeeper: Service = (_request, response) => json(response, anthropicError, 401);

const services: readonly [name: string, service: Service, pasted: string, expected: object][] = [
  ['OpenAI’s API', openai, '/v1', { dialect: 'openai', path: '/v1' }],
  ['OpenAI’s API by its call', openai, '/v1/chat/completions', { dialect: 'openai', path: '/v1' }],
  ['OpenAI’s API by its host', openai, '', { dialect: 'openai', path: '/v1' }],
  ['Anthropic’s API', anthropic, '', { dialect: 'anthropic', path: '' }],
  ['Anthropic’s API by its version', anthropic, '/v1', { dialect: 'anthropic', path: '/v1' }],
  ['Anthropic’s API by its call', anthropic, '/v1/messages', { dialect: 'anthropic', path: '/v1' }],
  ['Anthropic’s call without a list', anthropicCallOnly, '/plan/anthropic', { dialect: 'anthropic', models: ['*'] }],
  ['Gemini’s API', gemini, '', { dialect: 'gemini', path: '/v1beta' }],
  ['Gemini’s API by its call', gemini, '/v1beta/models/a:generateContent', { dialect: 'gemini', path: '/v1beta' }],
  ['Ollama', ollama, '', { dialect: 'openai', path: '/v1', preset: 'ollama' }],
  ['Ollama by its own call', ollama, '/api/chat', { dialect: 'openai', path: '/v1', preset: 'ollama' }],
  ['both', both, '/v1', { dialect: 'openai', path: '/v1' }],
  ['both, by Anthropic’s call', both, '/v1/messages', { dialect: 'anthropic', path: '/v1' }],
  ['what refuses the credential everywhere', doorkeeper, '', { dialect: 'anthropic', path: '' }],
];

describe('the API of a service', () => {
  test.each(services)('is told before anything is added: %s', async (_name, answers, pasted, expected) => {
    const upstream = await stopLater(startUpstream(answers));
    const events = gatherEvents(sluice.gateway);
    const { revision } = await sluice.gateway.query({ type: 'status' });
    const address = upstream.origin.replace('http://', '') + pasted;
    const { provider, isFound, report } = await trial({ address, credentials });
    const { path, ...fields } = expected as { path?: string };
    expect(isFound).toBe(true);
    expect(provider).toMatchObject(fields);
    if (path !== undefined) expect(provider.baseUrl).toBe(upstream.origin + path);
    if (answers !== doorkeeper && answers !== anthropicCallOnly) expect(report.modelCount).toBe(3);
    // Nothing was bought while it was looked for: all calls but the last, which is the test's own, were empty.
    const bought = upstream.seen.filter(({ method, body }) => method === 'POST' && body.toString() !== '[]');
    expect(bought.length).toBeLessThanOrEqual(1);
    expect(await sluice.gateway.query({ type: 'providers' })).not.toContainEqual(
      expect.objectContaining({ baseUrl: provider.baseUrl }),
    );
    expect((await sluice.gateway.query({ type: 'status' })).revision).toBe(revision);
    expect(JSON.stringify({ provider, report })).not.toContain(secret);
    events.stop();
  });

  test('is that of a known service at its own address, of which nobody is asked', async () => {
    const { provider } = await trial({
      address: 'r.openai.azure.com/openai/deployments/d/chat/completions?api-version=1',
      provider: { proxy: 'http://127.0.0.1:9' },
    });
    expect(provider).toMatchObject({
      preset: 'azure',
      dialect: 'azure',
      baseUrl: 'https://r.openai.azure.com/openai/v1',
    });
  });

  test('is not guessed where nothing speaks one', async () => {
    const upstream = await stopLater(
      startUpstream((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
      }),
    );
    const { isFound, report } = await trial({ address: upstream.origin });
    expect([isFound, report.failedAt]).toEqual([false, 'base-url']);
  });

  test('is not looked for where nobody answers, and the hop is named', async () => {
    const upstream = await startUpstream();
    await upstream.stop();
    const { isFound, report } = await trial({ address: upstream.origin });
    expect([isFound, report.failedAt]).toEqual([false, 'connection']);
  });
});

test('what is found is added as it was tested', async () => {
  const upstream = await stopLater(startUpstream(anthropic));
  const { provider } = await trial({ address: `${upstream.origin}/v1/messages`, credentials });
  const added = await sluice.gateway.execute({ type: 'provider.add', provider, credentials });
  expect(added.provider).toMatchObject({ dialect: 'anthropic', baseUrl: upstream.baseUrl });
});

test('a trial is refused where adding is', async () => {
  const own = new URL(sluice.baseUrl).origin;
  const refused = await refusalOf(trial({ address: own }));
  expect(refused.message).toMatch(/leads back|Sluice itself/);
});

const said = { id: 'x', choices: [{ message: { role: 'assistant', content: 'OK' } }] };

describe('a certificate of no trusted authority', () => {
  const serve = async (name: string) => {
    const server = https.createServer(selfSignedCertificate(name), ({ method }, response) =>
      json(response, method === 'GET' ? listed : { ...said, object: 'chat.completion' }),
    );
    const { port, stop } = await stopLater(listen(server));
    return { address: `https://127.0.0.1:${port}/v1`, stop };
  };

  test('is told by its fingerprint, trusted for this provider alone, and no longer once it changes', async () => {
    const { address } = await serve('My own server');
    const { report } = await trial({ address, credentials });
    expect(report).toMatchObject({ failedAt: 'tls', certificate: { issuer: 'My own server' } });
    const certificate = report.certificate?.fingerprint ?? '';
    const trusted = await trial({ address, credentials, provider: { certificate } });
    expect(trusted.report).toMatchObject({ failedAt: null, modelCount: 3, certificate: null });
    const { provider } = trusted;
    const { provider: added } = await sluice.gateway.execute({ type: 'provider.add', provider, credentials });
    expect(added.certificate).toBe(certificate);
    expect((await trial({ address, credentials })).report.failedAt).toBe('tls');

    const other = await serve('Somebody else');
    const changes = { baseUrl: other.address };
    await sluice.gateway.execute({ type: 'provider.update', id: added.id, changes });
    const changed = await sluice.gateway.query({ type: 'provider-test', id: added.id });
    expect(changed).toMatchObject({ failedAt: 'tls', certificate: { issuer: 'Somebody else' } });
    const failed = changed.steps.find(({ name }) => name === 'tls');
    expect(failed?.message).toContain('another certificate than the one that is trusted for it');
    expect(failed?.remedy).toEqual({ code: 'check-certificate' });
  });

  test.each([
    'https://api.openai.com/v1',
    'https://eu.api.anthropic.com',
    'https://API.DeepSeek.com.',
    'https://x.openai.azure.com',
  ])('is refused at a known service: %s', async (baseUrl) => {
    const certificate = Array.from({ length: 32 }, () => 'AB').join(':');
    const add = { type: 'provider.add' as const, provider: { baseUrl, certificate } };
    expect((await refusalOf(sluice.gateway.execute(add))).message).toContain('belongs to a known service');
    expect((await refusalOf(trial({ provider: { baseUrl, certificate } }))).problem?.code).toBe(
      'certificate-of-vendor',
    );
  });
});

test('an address is stored as it is meant, by whichever command it comes', async () => {
  const add = { type: 'provider.add' as const, id: 'p', provider: { baseUrl: '127.0.0.1:9/v1/chat/completions/' } };
  expect((await sluice.gateway.execute(add)).provider.baseUrl).toBe('http://127.0.0.1:9/v1');
  const changes = { baseUrl: 'llm.example.com/v1/messages' };
  const changed = await sluice.gateway.execute({ type: 'provider.update', id: 'p', changes });
  expect(changed.provider.baseUrl).toBe('https://llm.example.com/v1');
});
