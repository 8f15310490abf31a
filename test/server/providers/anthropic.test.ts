import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { anthropicDialect } from '../../../server/apis/anthropic/provider/dialect.ts';
import { fetchModelList } from '../../../server/providers/list-models.ts';
import { probeProvider } from '../../../server/providers/probe.ts';
import { createTransport } from '../../../server/transport/create-transport.ts';
import type { Transport } from '../../../server/transport/transport.ts';
import { compiledProvider } from '../../support/providers.ts';
import { anthropicKey, sendError } from '../../support/strict-anthropic.ts';
import { json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';

const address = (basePath: string) =>
  anthropicDialect.address(
    { origin: 'https://api.anthropic.com', basePath, apiVersion: undefined },
    '/messages',
    '?beta=true',
    'm',
  );

test('its base URL is one with a version, or without', () => {
  expect(address('')).toBe('/v1/messages?beta=true');
  expect(address('/v1')).toBe('/v1/messages?beta=true');
  expect(address('/anthropic')).toBe('/anthropic/v1/messages?beta=true');
});

test('a key of Anthropic’s goes where Anthropic has it, and one of another service wherever that looks', () => {
  expect(anthropicDialect.authorize(anthropicKey)).toEqual({ 'x-api-key': anthropicKey });
  expect(anthropicDialect.authorize('sk-ant-oat01-x')).toEqual({ authorization: 'Bearer sk-ant-oat01-x' });
  expect(anthropicDialect.authorize('abc')).toEqual({ 'x-api-key': 'abc', authorization: 'Bearer abc' });
});

test('it serves its own API alone', () => {
  const wires = ['anthropic-messages', 'anthropic-passthrough', 'openai-chat', 'openai-embeddings'];
  expect(wires.map((wire) => anthropicDialect.serves(wire))).toEqual([true, true, false, false]);
});

describe('its models', () => {
  let upstream: ScriptedUpstream;
  let transport: Transport;
  const names = Array.from({ length: 5 }, (_, index) => `claude-${index}`);

  beforeEach(async () => {
    upstream = await startUpstream(list);
    transport = createTransport();
  });
  afterEach(async () => {
    await transport.close();
    await upstream.stop();
  });

  /** Two models per page. */
  function list(request: SeenRequest, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url, upstream.origin);
    const { headers } = request;
    if (headers['anthropic-version'] !== '2023-06-01') sendError(response, 400, 'invalid_request_error', 'version');
    else if (headers['x-api-key'] !== anthropicKey) sendError(response, 401, 'authentication_error', 'invalid key');
    else if (pathname !== '/v1/models') sendError(response, 404, 'not_found_error', 'Not found');
    else json(response, pageAfter(searchParams.get('after_id') ?? ''));
  }

  function pageAfter(id: string) {
    const start = names.indexOf(id) + 1;
    const shown = names.slice(start, start + 2);
    const facts = { created_at: '2026-02-03T00:00:00Z', max_input_tokens: 200_000, max_tokens: 64_000 };
    return {
      data: shown.map((name) => ({ type: 'model', id: name, display_name: name, ...facts })),
      first_id: shown[0] ?? null,
      last_id: shown.at(-1) ?? null,
      has_more: start + 2 < names.length,
    };
  }

  const provider = (key = anthropicKey, baseUrl = upstream.origin) =>
    compiledProvider({ baseUrl, dialect: 'anthropic' }, key);

  test('are asked for page by page, with their age and size', async () => {
    const listed = await fetchModelList(provider(), transport);
    expect('models' in listed && [...listed.models]).toEqual(
      names.map((id) => [id, { created: 1_770_076_800, ownedBy: 'main', contextTokens: 200_000 }]),
    );
    expect(upstream.seen.map(({ url }) => url)).toEqual([
      '/v1/models?limit=1000',
      '/v1/models?limit=1000&after_id=claude-1',
      '/v1/models?limit=1000&after_id=claude-3',
    ]);
  });

  test('that never end are asked for no more than twenty times', async () => {
    upstream.answer((_request, response) => json(response, { data: [{ id: 'x' }], has_more: true, last_id: 'x' }));
    const listed = await fetchModelList(provider(), transport);
    expect('models' in listed && [...listed.models.keys()]).toEqual(['x']);
    expect(upstream.seen.length).toBe(20);
  });

  test('show a probe that the provider can be used, whether or not its address has the version', async () => {
    for (const baseUrl of [upstream.origin, upstream.baseUrl]) {
      const report = await probeProvider(provider(anthropicKey, baseUrl), { transport });
      expect([report.ok, report.modelCount]).toEqual([true, 5]);
    }
  });

  test('tell a probe which step fails', async () => {
    expect((await probeProvider(provider('wrong'), { transport })).failedAt).toBe('credential');
    upstream.seen.length = 0;
    const lost = await probeProvider(provider(anthropicKey, `${upstream.origin}/elsewhere`), { transport });
    expect(lost.failedAt).toBe('base-url');
    expect(upstream.seen.length).toBe(1);
  });
});
