import { z } from 'zod';
import type { ModelInfo } from './upstream.ts';

const nameSchema = z.string().min(1).max(256);
const tokensSchema = z.int().positive().optional().catch(undefined);
const entrySchema = z.union([
  nameSchema.transform((id) => ({ id, created: 0, owned_by: null, contextTokens: undefined })),
  z
    .object({
      id: nameSchema.optional().catch(undefined),
      name: nameSchema.optional().catch(undefined),
      created: z.int().nonnegative().catch(0),
      owned_by: nameSchema.nullable().catch(null),
      // In turn: OpenRouter and Together, Groq, Mistral, vLLM.
      context_length: tokensSchema,
      context_window: tokensSchema,
      max_context_length: tokensSchema,
      max_model_len: tokensSchema,
    })
    .transform(({ id, name, created, owned_by, ...sizes }) => ({
      id: id ?? name,
      created,
      owned_by,
      contextTokens:
        sizes.context_length ?? sizes.context_window ?? sizes.max_context_length ?? sizes.max_model_len ?? undefined,
    })),
]);
const listSchema = z.union([
  z.array(z.unknown()),
  z.object({ data: z.array(z.unknown()) }).transform(({ data }) => data),
  z.object({ models: z.array(z.unknown()) }).transform(({ models }) => models),
]);

/** OpenRouter, the longest list known, has some 500. */
const mostModels = 5_000;

/**
 * Parses a model list: `{"data":[{"id":…}]}` (OpenAI), `{"models":[{"name":…}]}` (Ollama, Gemini), or a bare array
 * (Together). Entries without a usable name are skipped; null if the body is not a list.
 */
export function parseModelList(body: Buffer, ownedBy: string): Map<string, ModelInfo> | null {
  const list = listSchema.safeParse(parseJson(body));
  if (!list.success) return null;
  const models = new Map<string, ModelInfo>();
  for (const item of list.data.slice(0, mostModels)) {
    const entry = entrySchema.safeParse(item);
    if (!entry.success || !entry.data.id) continue;
    const { id, created, owned_by, contextTokens } = entry.data;
    const size = contextTokens === undefined ? {} : { contextTokens };
    models.set(plainName(id), { created, ownedBy: owned_by ?? ownedBy, ...size });
  }
  return models;
}

/** Gemini lists `models/gemini-…`, but also accepts the plain name, which people use. */
function plainName(id: string): string {
  return id.startsWith('models/') && id.length > 'models/'.length ? id.slice('models/'.length) : id;
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
