import type { ProviderConfig } from '../contract/config.ts';

/**
 * How a service is asked to go on with an answer that has begun: what stands in the last message, an assistant's, and
 * beside the messages. From each service's own documentation; where that says nothing, or refuses it as OpenAI and newer
 * models of Anthropic do, there is none.
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

/** DeepSeek has it below `/beta` only. */
const deepSeek: Prefill = { message: { prefix: true }, request: {} };

export function prefillOf({ preset, baseUrl }: Pick<ProviderConfig, 'preset' | 'baseUrl'>): Prefill | null {
  if (preset === 'deepseek') return /\/beta\/?$/.test(baseUrl) ? deepSeek : null;
  return (preset !== undefined && byPreset[preset]) || null;
}
