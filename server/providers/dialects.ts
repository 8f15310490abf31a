/** Which dialect a provider speaks, which wires it serves by it, and whether it continues a begun answer. */
import { anthropicDialect } from '../apis/anthropic/provider/dialect.ts';
import { bedrockDialect } from '../apis/bedrock/provider/bedrock.ts';
import type { Dialect } from '../apis/core/dialects/dialect.ts';
import { geminiDialect } from '../apis/gemini/provider/dialect.ts';
import { vertexDialect } from '../apis/gemini/vertex/vertex.ts';
import { azureDialect, openaiDialect } from '../apis/openai/provider/dialect.ts';
import type { ConversationApi, DialectId, ProviderConfig } from '../contract/config.ts';
import { presets } from './presets.ts';

export const dialects: Record<DialectId, Dialect> = {
  openai: openaiDialect,
  azure: azureDialect,
  anthropic: anthropicDialect,
  gemini: geminiDialect,
  bedrock: bedrockDialect,
  vertex: vertexDialect,
};

const wires: Record<ConversationApi, string> = { chat: 'openai-chat', responses: 'openai-responses' };

/**
 * Names of the OpenAI conversation wires that a provider serves, from its configuration or otherwise from the
 * documentation of its preset's service. null if unknown.
 */
export function servedWires(provider: ProviderConfig): readonly string[] | null {
  return (provider.serves ?? documented(provider))?.map((api) => wires[api]) ?? null;
}

function documented({ preset, dialect, baseUrl }: ProviderConfig): readonly ConversationApi[] | null {
  if (dialect === 'azure') return ['chat', 'responses'];
  return presets.find((each) => each.id === preset && each.baseUrl === baseUrl)?.serves ?? null;
}

/**
 * How a service is asked to continue an answer: fields of the last (assistant) message and of the request, according to
 * the service's documentation. Services that do not document this, or that refuse it like OpenAI and newer Anthropic
 * models, have none.
 */
export interface Prefill {
  message: Readonly<Record<string, unknown>>;
  request: Readonly<Record<string, unknown>>;
}

const byPreset: Readonly<Record<string, Prefill>> = {
  mistral: { message: { prefix: true }, request: {} },
  'llama-cpp': { message: {}, request: {} },
  vllm: { message: {}, request: { add_generation_prompt: false, continue_final_message: true } },
};

/** DeepSeek supports this below `/beta` only (api-docs.deepseek.com, "Chat Prefix Completion"). */
const deepSeek: Prefill = { message: { prefix: true }, request: {} };

export function prefillOf({ preset, baseUrl }: Pick<ProviderConfig, 'preset' | 'baseUrl'>): Prefill | null {
  if (preset === 'deepseek') return /\/beta\/?$/.test(baseUrl) ? deepSeek : null;
  return (preset !== undefined && byPreset[preset]) || null;
}
