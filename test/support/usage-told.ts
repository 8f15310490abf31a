/**
 * Compares the usage in the ledger with what clients of every API are told, in front of the upstreams of
 * `usage-upstreams.ts`.
 */
import { afterAll, beforeAll, expect } from 'vitest';
import type { ConfigInput } from '../../server/contract/config.ts';
import type { Usage } from '../../server/contract/ledger.ts';
import type { Json } from '../server/apis/translation/translating.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from './gateway.ts';
import type { ScriptedUpstream } from './upstream.ts';
import { type Said, startUsageUpstream, type UsageUpstream, usageUpstreams } from './usage-upstreams.ts';

export type Api = keyof typeof usageUpstreams;
export const apis = Object.keys(usageUpstreams) as Api[];

let gateway: TestGateway;
let said: Said = { text: '', usage: {} };

/** What all upstreams say from now on. */
export function say(now: Said): void {
  said = now;
}

/** Starts a gateway with all upstreams for the tests of a file. Registers the hooks. */
export function usageInSuite(settings: ConfigInput['settings'] = {}): void {
  const upstreams: ScriptedUpstream[] = [];
  beforeAll(async () => {
    const providers = [];
    for (const [id, api] of Object.entries<UsageUpstream>(usageUpstreams)) {
      const upstream = await startUsageUpstream(api, () => said);
      upstreams.push(upstream);
      providers.push(mainProvider(upstream.origin + api.basePath, { id, models: [api.model], ...api.config }));
    }
    const secrets = Object.entries(usageUpstreams).map(([id, { secret }]) => [`provider/${id}/c1`, secret]);
    const groups = [{ id: 'default', policy: { retries: 0 } }];
    gateway = await startGateway({ config: { groups, providers, settings }, secrets: Object.fromEntries(secrets) });
  });
  afterAll(async () => {
    await gateway.stop();
    await Promise.all(upstreams.map((upstream) => upstream.stop()));
  });
}

/** The counts that a client is told; those that its API does not have are 0. */
export interface Told {
  input: number;
  cached: number;
  written?: number;
  forAnHour?: number;
  output: number;
  reasoning: number;
}

export interface Client {
  path(model: string, stream: boolean): string;
  body: Json;
  /** The usage object of an answer, or of an event that has it. */
  usageIn(answer: Json): Json | undefined;
  told(usage: Json): Told;
}

const at = (value: unknown, name: string) => (value as Json | undefined)?.[name];
const numberAt = (value: unknown, name: string) => Number(at(value, name) ?? 0);
const asked = [{ role: 'user', content: 'What is it?' }];

export const clients = {
  chat: {
    path: () => '/v1/chat/completions',
    body: { messages: asked, stream_options: { include_usage: true } },
    usageIn: ({ usage }) => (usage ?? undefined) as Json | undefined,
    told: (usage) => ({
      input: numberAt(usage, 'prompt_tokens'),
      cached: numberAt(usage.prompt_tokens_details, 'cached_tokens'),
      written: numberAt(usage.prompt_tokens_details, 'cache_write_tokens'),
      output: numberAt(usage, 'completion_tokens'),
      reasoning: numberAt(usage.completion_tokens_details, 'reasoning_tokens'),
    }),
  },
  responses: {
    path: () => '/v1/responses',
    body: { input: asked, store: false },
    usageIn: ({ usage, response }) => (usage ?? at(response, 'usage') ?? undefined) as Json | undefined,
    told: (usage) => ({
      input: numberAt(usage, 'input_tokens'),
      cached: numberAt(usage.input_tokens_details, 'cached_tokens'),
      written: numberAt(usage.input_tokens_details, 'cache_write_tokens'),
      output: numberAt(usage, 'output_tokens'),
      reasoning: numberAt(usage.output_tokens_details, 'reasoning_tokens'),
    }),
  },
  messages: {
    path: () => '/v1/messages',
    body: { messages: asked, max_tokens: 60_000 },
    usageIn: ({ type, usage }) => (type === 'message_delta' || type === 'message' ? (usage as Json) : undefined),
    told: (usage) => {
      const [cached, written] = ['read', 'creation'].map((kind) => numberAt(usage, `cache_${kind}_input_tokens`));
      return {
        input: numberAt(usage, 'input_tokens') + Number(cached) + Number(written),
        cached: Number(cached),
        written: Number(written),
        forAnHour: numberAt(usage.cache_creation, 'ephemeral_1h_input_tokens'),
        output: numberAt(usage, 'output_tokens'),
        reasoning: numberAt(usage.output_tokens_details, 'thinking_tokens'),
      };
    },
  },
  gemini: {
    path: (model, stream) =>
      `/v1beta/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text: 'What is it?' }] }] },
    usageIn: ({ usageMetadata }) => usageMetadata as Json | undefined,
    told: (usage) => ({
      input: numberAt(usage, 'promptTokenCount') + numberAt(usage, 'toolUsePromptTokenCount'),
      cached: numberAt(usage, 'cachedContentTokenCount'),
      output: numberAt(usage, 'candidatesTokenCount') + numberAt(usage, 'thoughtsTokenCount'),
      reasoning: numberAt(usage, 'thoughtsTokenCount'),
    }),
  },
} satisfies Record<string, Client>;

export type ClientName = keyof typeof clients;
export const clientNames = Object.keys(clients) as ClientName[];

/** Which client gets the upstream's own bytes. */
export const ownClients: Record<Api, ClientName | null> = {
  chat: 'chat',
  responses: 'responses',
  anthropic: 'messages',
  gemini: 'gemini',
  converse: null,
  'invoke-model': 'messages',
  'vertex-claude': 'messages',
  'vertex-gemini': 'gemini',
};

export async function ask(api: Api, name: ClientName, stream: boolean) {
  const { model } = usageUpstreams[api];
  const client: Client = clients[name];
  const isGemini = name === 'gemini';
  const body = { ...client.body, ...(!isGemini && { model, ...(stream && { stream }) }) };
  const { stream_options: options, ...plain } = body as Json;
  const response = await fetch(gateway.origin + client.path(model, stream), {
    method: 'POST',
    headers: {
      'x-api-key': testKey,
      'content-type': 'application/json',
      ...(name === 'messages' && { 'anthropic-version': '2023-06-01' }),
    },
    body: JSON.stringify(stream && options ? body : plain),
  });
  const text = await response.text();
  expect(response.status, text.slice(0, 300)).toBe(200);
  const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  const events = stream ? eventsOf(text) : [JSON.parse(text) as Json];
  const usages = events.map(client.usageIn);
  const told = usages.findLast((usage) => usage !== undefined && usage !== null);
  return { told: told && client.told(told), record, events };
}

export function eventsOf(text: string): Json[] {
  const datas = text.split(/\r?\n/).filter((line) => line.startsWith('data:') && !line.endsWith('[DONE]'));
  return datas.map((line) => JSON.parse(line.slice('data:'.length)) as Json);
}

export const asTold = (usage: Usage | null): Required<Told> => ({
  input: usage?.inputTokens ?? -1,
  cached: usage?.cachedInputTokens ?? 0,
  written: usage?.cacheWriteTokens ?? 0,
  forAnHour: usage?.cacheWriteOneHourTokens ?? 0,
  output: usage?.outputTokens ?? -1,
  reasoning: usage?.reasoningTokens ?? 0,
});

/** Asks with every client, whole and streamed. */
export async function expectTold(api: Api, counts: Partial<Told>, names: readonly ClientName[] = clientNames) {
  const ways = [false, true].flatMap((stream) => names.map((name) => ({ name, stream })));
  const answers = await Promise.all(ways.map(async (way) => ({ ...way, ...(await ask(api, way.name, way.stream)) })));
  for (const { name, stream, told, record } of answers) {
    const what = `${name} in front of ${api}, ${stream ? 'streamed' : 'whole'}`;
    expect(asTold(record.usage), `the ledger of ${what}`).toMatchObject(counts);
    expect(record.usageCertainty, what).toBe('reported');
    if (name === ownClients[api]) continue;
    const comparable = Object.entries(counts).filter(([count]) => told && count in told);
    expect(told, `a client of ${what}`).toMatchObject(Object.fromEntries(comparable));
  }
}
