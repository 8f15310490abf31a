import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { describeTest } from '../../../../server/cli/provider-add.ts';
import { renderShown } from '../../../../server/cli/shown.ts';
import { plainLook } from '../../../../server/cli/terminal.ts';
import {
  chooseTrialModel,
  createProviderKnowledge,
  tryModel,
} from '../../../../server/control/live/provider-knowledge.ts';
import { createPriceTable } from '../../../../server/models/price-table.ts';
import { createTransport } from '../../../../server/transport/create-transport.ts';
import { compiledProvider } from '../../../support/providers.ts';
import { scriptedTransport } from '../../../support/stand-ins.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../../support/upstream.ts';

const secret = 'planted-credential-4711';
const list = { object: 'list', data: [{ id: 'text-embedding-3-small' }, { id: 'gpt-4o' }, { id: 'gpt-4o-mini' }] };
const answer = { id: 'x', object: 'chat.completion', choices: [{ message: { role: 'assistant', content: 'OK' } }] };
const transport = createTransport();
let upstream: ScriptedUpstream | undefined;

afterEach(() => upstream?.stop());
afterAll(() => transport.close());

type Provider = Omit<Parameters<typeof compiledProvider>[0], 'baseUrl'>;

/** Tests a provider that lists three models and answers each call with `status` and `reply`. */
async function probe(
  reply: object,
  { status = 200, model, ...provider }: Provider & { status?: number; model?: string },
) {
  upstream = await startUpstream((request, response) =>
    request.method === 'GET' ? json(response, list) : json(response, reply, status),
  );
  const knowledge = createProviderKnowledge({
    transport,
    prices: createPriceTable(),
    ownPorts: () => new Set(),
    discovery: { models: () => new Map(), state: unused, watch: unused, refresh: unused, close: unused },
  });
  const report = await knowledge.probe(compiledProvider({ ...provider, baseUrl: upstream.baseUrl }, secret), model);
  expect(JSON.stringify(report)).not.toContain('planted');
  return report;
}

function unused(): never {
  throw new Error('not asked for here');
}

function called(): { url: string; body: Record<string, unknown> }[] {
  return (upstream?.seen ?? [])
    .filter(({ method, url }) => method === 'POST' && !url.endsWith('/responses'))
    .map(({ url, body }) => ({ url, body: JSON.parse(body.toString()) }));
}

describe('the call that ends the test of a provider', () => {
  test('goes to the cheapest model for conversations, and says that it answered', async () => {
    const report = await probe(answer, {});
    expect(called()).toEqual([
      { url: '/v1/chat/completions', body: expect.objectContaining({ model: 'gpt-4o-mini', max_tokens: 16 }) },
    ]);
    expect(report).toMatchObject({ ok: true, call: { model: 'gpt-4o-mini' }, said: null, modelCount: 3 });
    // The list needs no credential here, so only the call shows that the credential is valid.
    expect(report.steps.find(({ name }) => name === 'credential')?.status).toBe('ok');
    expect(renderShown(describeTest(report), plainLook)).toMatch(
      /^Provider "main" answered in \d+ ms with gpt-4o-mini:/,
    );
  });

  test('goes to the model that was asked for', async () => {
    expect((await probe(answer, { model: 'gpt-4o' })).call?.model).toBe('gpt-4o');
  });

  test.each([
    ['anthropic', '/v1/messages', { type: 'message', content: [] }],
    ['gemini', '/v1/models/gpt-4o:generateContent', { candidates: [] }],
  ] as const)('speaks the API of %s', async (dialect, url, reply) => {
    const report = await probe(reply, { dialect, model: 'gpt-4o', models: ['gpt-4o'] });
    expect(called().map((call) => call.url)).toEqual([url]);
    expect(report).toMatchObject({ ok: true, call: { model: 'gpt-4o' } });
  });

  test('goes to the host of Bedrock that answers, not to the one that lists its models', async () => {
    const message = { role: 'assistant', content: [{ text: 'OK' }] };
    const bedrock = scriptedTransport(() => ({ output: { message }, stopReason: 'end_turn' }));
    const baseUrl = 'https://bedrock-runtime.eu-west-1.amazonaws.com';
    const provider = compiledProvider({ dialect: 'bedrock', baseUrl }, secret);
    const trial = await tryModel(provider, 'amazon.nova-pro-v1:0', bedrock);
    expect(bedrock.seen.map(({ origin, path }) => origin + path)).toEqual([
      `${baseUrl}/model/amazon.nova-pro-v1%3A0/converse`,
    ]);
    expect(trial).toMatchObject({ outcome: { kind: 'answer', status: 200 }, said: null });
  });

  test.each([
    [401, 'credential', /rejected the credential/],
    [402, 'quota', /needs payment/],
    [429, 'quota', /rate limit/],
    [404, 'call', /answered with 404.*spelling/],
    [400, 'call', /answered with 400.*another model/],
    [503, 'call', /answered with 503.*service itself has a problem/],
  ])('that is answered with %s fails at %s', async (status, failedAt, text) => {
    const report = await probe({ error: { message: `no, ${secret}` } }, { status });
    expect(report).toMatchObject({ ok: false, failedAt, call: null, said: 'no, [redacted]' });
    expect(renderShown(describeTest(report), plainLook)).toMatch(text);
    expect(renderShown(describeTest(report), plainLook)).toContain('It said: no, [redacted]');
  });

  test('is no answer where another kind of object comes back', async () => {
    expect(await probe(list, {})).toMatchObject({ ok: false, failedAt: 'call', call: null });
  });

  test('is made again with the newer name of the limit where the model refuses the older one', async () => {
    const report = await probe(
      { error: { message: "Use 'max_completion_tokens' instead of 'max_tokens'." } },
      { status: 400 },
    );
    expect(called().map(({ body }) => Object.keys(body).at(-1))).toEqual(['max_tokens', 'max_completion_tokens']);
    expect(report.ok).toBe(false);
  });
});

describe('the model of the call', () => {
  const abroad = compiledProvider({ baseUrl: 'https://api.example/v1' }, secret);
  const prices = createPriceTable();
  const price = (model: string) => prices.cost('main', model, { inputTokens: 20, outputTokens: 16 });

  test('is none whose price is not known, unless the server is in the network of this machine', () => {
    expect(chooseTrialModel(abroad, ['unheard-of'], price)).toBe('call-unpriced');
    for (const host of ['127.0.0.1', 'localhost', '192.168.1.20', '10.0.0.2', '[::1]', 'nas.local']) {
      const nearby = compiledProvider({ baseUrl: `http://${host}:11434/v1` });
      expect(chooseTrialModel(nearby, ['unheard-of'], price), host).toMatchObject({ model: 'unheard-of' });
    }
  });

  test('is none that would cost a cent', () => {
    expect(chooseTrialModel(abroad, ['gpt-4o'], () => 0.01)).toBe('call-unpriced');
  });

  test('is none that is not for conversations', () => {
    expect(chooseTrialModel(abroad, ['whisper-1', 'text-embedding-3-small'], price)).toBe('call-impossible');
  });
});

test('a test without a call says that models were listed, and no more', async () => {
  upstream = await startUpstream((_request, response) =>
    json(response, { object: 'list', data: [{ id: 'whisper-1' }] }),
  );
  const knowledge = createProviderKnowledge({
    transport,
    prices: createPriceTable(),
    ownPorts: () => new Set(),
    discovery: { models: () => new Map(), state: unused, watch: unused, refresh: unused, close: unused },
  });
  const report = await knowledge.probe(compiledProvider({ baseUrl: upstream.baseUrl }));
  expect(report).toMatchObject({ ok: true, call: null });
  expect(renderShown(describeTest(report), plainLook)).toMatch(/^Provider "main" lists 1 model, but none was called:/);
  expect(renderShown(describeTest(report), plainLook)).toContain(
    'not     call: no model was called: it has no chat model',
  );
});
