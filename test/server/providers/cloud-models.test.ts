/** The lists of models of Bedrock and Vertex AI. */
import { describe, expect, test } from 'vitest';
import { bedrockModelPages } from '../../../server/apis/bedrock/provider/bedrock.ts';
import { fetchModelList } from '../../../server/providers/list-models.ts';
import { probeProvider } from '../../../server/providers/probe.ts';
import { modelListRequest } from '../../../server/providers/upstream.ts';
import { compiledProvider } from '../../support/providers.ts';
import { awsSignature, scriptedTransport } from '../../support/stand-ins.ts';

const secretAccessKey = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const accessKey = `AKIAIOSFODNN7EXAMPLE:${secretAccessKey}`;
const runtime = 'https://bedrock-runtime.eu-west-1.amazonaws.com';
const vertexBase = 'https://europe-west1-aiplatform.googleapis.com/v1/projects/p1/locations/europe-west1';

const summary = (modelId: string, ...outputModalities: string[]) => ({ modelId, outputModalities });
const profile = (inferenceProfileId: string) => ({ inferenceProfileId, status: 'ACTIVE' });

function bedrockList(path: string): unknown {
  if (path.startsWith('/foundation-models')) {
    const models = [
      summary('amazon.nova-pro-v1:0', 'TEXT'),
      summary('amazon.titan-image-generator-v2:0', 'IMAGE'),
      summary('amazon.titan-embed-text-v2:0', 'EMBEDDING'),
      summary('amazon.titan-embed-image-v1', 'EMBEDDING'),
      summary('stability.stable-image-ultra-v1:1', 'IMAGE'),
    ];
    return { modelSummaries: models };
  }
  if (!path.includes('nextToken')) {
    return { inferenceProfileSummaries: [profile('eu.anthropic.claude-sonnet-4-5-v1:0')], nextToken: 'a+b=' };
  }
  return { inferenceProfileSummaries: [profile('eu.amazon.nova-2-lite-v1:0')] };
}

describe('Bedrock', () => {
  test('lists models and inference profiles, on all pages, at the host of its control plane', async () => {
    const transport = scriptedTransport(({ path }) => bedrockList(path));
    const provider = compiledProvider({ dialect: 'bedrock', baseUrl: runtime }, 'ABSKkey');
    const result = await fetchModelList(provider, transport);
    expect('models' in result && [...result.models.keys()]).toEqual([
      'amazon.nova-pro-v1:0',
      'amazon.titan-embed-text-v2:0',
      'eu.anthropic.claude-sonnet-4-5-v1:0',
      'eu.amazon.nova-2-lite-v1:0',
    ]);
    expect(transport.seen.map(({ origin, path }) => origin + path)).toEqual([
      'https://bedrock.eu-west-1.amazonaws.com/foundation-models?byInferenceType=ON_DEMAND',
      'https://bedrock.eu-west-1.amazonaws.com/inference-profiles?maxResults=1000&typeEquals=SYSTEM_DEFINED',
      'https://bedrock.eu-west-1.amazonaws.com/inference-profiles?maxResults=1000&typeEquals=SYSTEM_DEFINED&nextToken=a%2Bb%3D',
    ]);
    expect(transport.seen[0]?.headers.authorization).toBe('Bearer ABSKkey');
  });

  test('is asked for its models with a signature', async () => {
    const transport = scriptedTransport(({ path }) => bedrockList(path));
    await fetchModelList(compiledProvider({ dialect: 'bedrock', baseUrl: runtime }, accessKey), transport);
    expect(transport.seen).toHaveLength(3);
    for (const { method, path, headers } of transport.seen) {
      const told = String(headers.authorization);
      const [, names = '', signature] = /SignedHeaders=([^,]+), Signature=([0-9a-f]+)$/.exec(told) ?? [];
      const all: Record<string, unknown> = { ...headers, host: 'bedrock.eu-west-1.amazonaws.com' };
      const signed = Object.fromEntries(names.split(';').map((name) => [name, String(all[name])]));
      const scope = { region: 'eu-west-1', service: 'bedrock', secretAccessKey };
      expect(signature).toBe(awsSignature({ method, path, headers: signed, body: '' }, scope));
    }
  });

  test('of a person who may not list models is asked for any model', async () => {
    const message = 'User: arn:aws:iam::1:user/x is not authorized to perform: bedrock:ListFoundationModels';
    const transport = scriptedTransport(() => ({ message }), 403);
    const provider = compiledProvider({ dialect: 'bedrock', baseUrl: runtime }, 'ABSKkey');
    expect(await fetchModelList(provider, transport)).toEqual({ finding: { code: 'may-not-list', status: 403 } });
    expect([provider.discoversModels, provider.anyModel]).toEqual([true, true]);
    const { ok, steps } = await probeProvider(provider, { transport });
    expect(ok).toBe(true);
    expect(steps.filter(({ status }) => status === 'skipped').map(({ name }) => name)).toEqual([
      'proxy',
      'credential',
      'quota',
      'models',
      'call',
    ]);
  });

  test('that does not know the key refuses the credential', async () => {
    const message = 'The security token included in the request is invalid.';
    const transport = scriptedTransport(() => ({ message }), 403);
    const provider = compiledProvider({ dialect: 'bedrock', baseUrl: runtime }, 'ABSKkey');
    expect(await probeProvider(provider, { transport })).toMatchObject({ ok: false, failedAt: 'credential' });
  });

  test('has its lists at the same host behind another address', () => {
    const provider = compiledProvider({ dialect: 'bedrock', baseUrl: 'https://vpce-1.example.com' }, 'ABSKkey');
    expect(modelListRequest(provider)).toMatchObject({ origin: 'https://vpce-1.example.com' });
    expect(bedrockModelPages.read?.({ other: [] })).toBeNull();
  });

  test('is not believed where a model has no text for a name', async () => {
    const transport = scriptedTransport(() => ({
      modelSummaries: [
        { modelId: { toString: 1 }, outputModalities: ['TEXT'] },
        summary('amazon.nova-pro-v1:0', 'TEXT'),
      ],
      inferenceProfileSummaries: [],
    }));
    const provider = compiledProvider({ dialect: 'bedrock', baseUrl: runtime }, 'ABSKkey');
    const result = await fetchModelList(provider, transport);
    expect('models' in result && [...result.models.keys()]).toEqual(['amazon.nova-pro-v1:0']);
  });

  test('is found in order by a probe, with a model that no list has', async () => {
    const transport = scriptedTransport(({ path }) => bedrockList(path));
    const provider = compiledProvider({ dialect: 'bedrock', baseUrl: runtime }, 'ABSKkey');
    const model = 'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc';
    const report = await probeProvider(provider, { transport, model });
    expect(report).toMatchObject({ ok: true, modelCount: 4 });
  });
});

describe('Vertex AI', () => {
  const listed = (publisher: string, model: string, versionId?: string) => ({
    name: `publishers/${publisher}/models/${model}`,
    ...(versionId !== undefined && { versionId }),
  });
  const pages: Record<string, unknown> = {
    '/v1beta1/publishers/google/models?pageSize=200': {
      publisherModels: [listed('google', 'gemini-3-pro', 'default'), listed('google', 'bert-base', '001')],
      nextPageToken: 'n 1',
    },
    '/v1beta1/publishers/google/models?pageSize=200&pageToken=n%201': {
      publisherModels: [listed('google', 'gemini-2.5-flash')],
    },
    '/v1beta1/publishers/anthropic/models?pageSize=200': {
      publisherModels: [listed('anthropic', 'claude-opus-4-5', '20251101'), listed('anthropic', 'claude-opus-5-5')],
    },
  };

  test('is not believed where a model has no text for a name', async () => {
    const publisherModels = [{ name: { toString: 1 } }, listed('google', 'gemini-3-pro')];
    const transport = scriptedTransport(() => ({ publisherModels }));
    const provider = compiledProvider({ dialect: 'vertex', baseUrl: vertexBase }, 'ya29.token');
    const result = await fetchModelList(provider, transport);
    expect('models' in result && [...result.models.keys()]).toEqual(['gemini-3-pro']);
  });

  test('lists the models of both publishers, by the names under which they are asked', async () => {
    const transport = scriptedTransport(({ path }) => pages[path] ?? {});
    const provider = compiledProvider({ dialect: 'vertex', baseUrl: vertexBase }, 'ya29.token');
    const result = await fetchModelList(provider, transport);
    expect('models' in result && [...result.models.keys()]).toEqual([
      'gemini-3-pro',
      'gemini-2.5-flash',
      'claude-opus-4-5@20251101',
      'claude-opus-5-5',
    ]);
    expect(transport.seen.map(({ path }) => path)).toEqual(Object.keys(pages));
    expect(transport.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer ya29.token',
      'x-goog-user-project': 'p1',
    });
  });

  test('whose credential Google gives no token for says so', async () => {
    const user = { type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'listing' };
    const transport = scriptedTransport(() => ({ error: 'invalid_grant' }), 400);
    const provider = compiledProvider({ dialect: 'vertex', baseUrl: vertexBase }, JSON.stringify(user));
    expect(await fetchModelList(provider, transport)).toMatchObject({
      finding: { code: 'way-failed', detail: expect.stringContaining('invalid_grant') },
    });
  });
});
