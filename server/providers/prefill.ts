import type { ProviderConfig } from '../contract/config.ts';

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
