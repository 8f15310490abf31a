import { z } from 'zod';
import type { ModelInfo } from './upstream.ts';

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
export const maxModels = 5_000;

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
