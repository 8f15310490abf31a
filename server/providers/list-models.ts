/** A provider's list of models, read page by page; requests for it are signed where the dialect asks for it. */

import { z } from 'zod';
import { GatewayError } from '../contract/errors.ts';
import type { ProbeFinding } from '../contract/probe.ts';
import { type ConnectionFault, connectionFaults } from '../contract/provider-views.ts';
import { type CollectedResponse, ResponseTooLong, readResponse } from '../transport/fetch.ts';
import type { OutgoingRequest, Transport } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import { type ModelInfo, modelListRequest, type Upstream } from './upstream.ts';

type Models = ReadonlyMap<string, ModelInfo>;
/** With both, the list is longer than what is read of it. `fault`: why there was no answer. */
type ListResult = { models: Models; finding?: ProbeFinding } | { finding: ProbeFinding; fault?: ConnectionFault };

/** Limits the pages, in case a server's list never ends. */
const maxPages = 20;
/** The longest known list, OpenRouter's, has about 1 MB; parsing as much as this takes some 50 ms. */
const maxPageBytes = 8 * 1024 * 1024;

/** Requests a provider's model list page by page. Returns a finding, like a probe, if that fails. */
export async function fetchModelList(upstream: Upstream, transport: Transport): Promise<ListResult> {
  const { first, after, read, isRightMissing } = upstream.dialect.modelPages;
  const models = new Map<string, ModelInfo>();
  try {
    let query: string | null = first;
    for (let page = 0; query !== null && page < maxPages && models.size <= maxModels; page++) {
      const { status, body } = await fetchModelPage(upstream, transport, query);
      if (isRightMissing?.(status, body)) return { finding: { code: 'may-not-list', status } };
      if (status !== 200) return { finding: { code: 'answered', status } };
      const pageModels = parseModelList(body, upstream.id, read);
      if (!pageModels) return { finding: { code: 'not-a-list' } };
      for (const [name, info] of pageModels) models.set(name, info);
      query = after(parseJsonBytes(body), query);
    }
    const isCut = query !== null || models.size > maxModels;
    return isCut ? { models, finding: { code: 'list-cut', models: models.size } } : { models };
  } catch (error) {
    if (error instanceof ResponseTooLong) return { finding: tooLong(error) };
    const isKnown = error instanceof TransportError || error instanceof GatewayError;
    if (!isKnown) throw error;
    const fault = error instanceof TransportError && connectionFaults.find((each) => each === error.fault);
    return { finding: { code: 'way-failed', detail: error.message }, ...(fault && { fault }) };
  }
}

export function tooLong({ maxBytes }: ResponseTooLong): ProbeFinding {
  return { code: 'list-too-long', megabytes: Math.round(maxBytes / 2 ** 20) };
}

/**
 * Requests one page of a provider's model list.
 * @throws TransportError
 * @throws GatewayError `provider_credential_refused` if no token can be obtained for the credential
 */
export async function fetchModelPage(
  upstream: Upstream,
  transport: Transport,
  page?: string,
): Promise<CollectedResponse> {
  return readSigned(upstream, modelListRequest(upstream, page), transport, maxPageBytes);
}

/**
 * Sends a request with the first credential, which may have to sign it, and reads the response.
 * @throws TransportError
 * @throws GatewayError `provider_credential_refused` if there is no token for the credential
 */
export async function readSigned(
  { credentials }: Upstream,
  request: OutgoingRequest,
  transport: Transport,
  maxBytes?: number,
): Promise<CollectedResponse> {
  const signing = credentials[0]?.signing;
  if (!signing) return readResponse(transport, request, maxBytes);
  const send = async () => {
    const headers = { ...request.headers, ...(await signing.headersFor(request, transport)) };
    return { headers, response: await readResponse(transport, { ...request, headers }, maxBytes) };
  };
  const { headers, response } = await send();
  const isRefused = response.status === 401 || response.status === 403;
  return isRefused && signing.correctClock?.(headers, response.headers) ? (await send()).response : response;
}

const nameSchema = z.string().min(1).max(256);
const tokensSchema = z.int().positive().optional().catch(undefined);
/** Methods of Gemini's models that Sluice supports. Others generate videos or require a WebSocket. */
const servedVerbs = new Set(['generateContent', 'embedContent', 'batchEmbedContents', 'predict']);
const isServed = (
  entry: Record<'active' | 'archived', boolean | undefined> &
    Record<'supportedGenerationMethods', string[] | undefined>,
) =>
  entry.active !== false &&
  entry.archived !== true &&
  (entry.supportedGenerationMethods?.some((verb) => servedVerbs.has(verb)) ?? true);

const entrySchema = z.union([
  nameSchema.transform((id) => ({ id, created: 0, owned_by: null, contextTokens: undefined })),
  z
    .object({
      id: nameSchema.optional().catch(undefined),
      name: nameSchema.optional().catch(undefined),
      created: z.int().nonnegative().optional().catch(undefined),
      created_at: z.iso.datetime({ offset: true }).optional().catch(undefined),
      owned_by: nameSchema.nullable().catch(null),
      supportedGenerationMethods: z.array(z.string()).optional().catch(undefined),
      // Groq and Mistral list models that they no longer serve.
      active: z.boolean().optional().catch(undefined),
      archived: z.boolean().optional().catch(undefined),
      // In this order: OpenRouter and Together, Groq, Mistral, vLLM, Anthropic, Gemini.
      context_length: tokensSchema,
      context_window: tokensSchema,
      max_context_length: tokensSchema,
      max_model_len: tokensSchema,
      max_input_tokens: tokensSchema,
      inputTokenLimit: tokensSchema,
    })
    .transform(
      ({ id, name, created, created_at, owned_by, supportedGenerationMethods, active, archived, ...sizes }) => ({
        id: isServed({ supportedGenerationMethods, active, archived }) ? (id ?? name) : undefined,
        created: created ?? (created_at === undefined ? 0 : Math.max(0, Math.floor(Date.parse(created_at) / 1000))),
        owned_by,
        contextTokens: Object.values(sizes).find((size) => size !== undefined),
      }),
    ),
]);
const listSchema = z.union([
  z.array(z.unknown()),
  z.object({ data: z.array(z.unknown()) }).transform(({ data }) => data),
  z.object({ models: z.array(z.unknown()) }).transform(({ models }) => models),
  // An empty list, as servers written in Go print it.
  z.object({ data: z.null(), error: z.undefined().optional() }).transform((): unknown[] => []),
  z.object({ models: z.null(), error: z.undefined().optional() }).transform((): unknown[] => []),
]);

/** The longest known list, OpenRouter's, has about 500 models. */
const maxModels = 5_000;

/**
 * Parses a model list, as extracted by `read`: `{"data":[{"id":…}]}` (OpenAI, Anthropic), `{"models":[{"name":…}]}`
 * (Ollama, Gemini), or a bare array (Together). Entries without a usable name are skipped, and of
 * more than `maxModels` only one more is read. Returns null if the body is not a list.
 */
export function parseModelList(
  body: Buffer,
  ownedBy: string,
  read: (page: unknown) => unknown = asItIs,
): Map<string, ModelInfo> | null {
  const list = listSchema.safeParse(read(parseJsonBytes(body)));
  if (!list.success) return null;
  const models = new Map<string, ModelInfo>();
  for (const item of list.data.slice(0, maxModels + 1)) {
    const entry = entrySchema.safeParse(item);
    if (!entry.success || !entry.data.id) continue;
    const { id, created, owned_by, contextTokens } = entry.data;
    const size = contextTokens === undefined ? {} : { contextTokens };
    models.set(plainName(id), { created, ownedBy: owned_by ?? ownedBy, ...size });
  }
  return models;
}

const asItIs = (page: unknown) => page;

/** Gemini lists `models/gemini-…` but also accepts the plain name, which users expect. */
function plainName(id: string): string {
  return id.startsWith('models/') && id.length > 'models/'.length ? id.slice('models/'.length) : id;
}

/** undefined if the body is not JSON. */
export function parseJsonBytes(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
