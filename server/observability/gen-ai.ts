/** Maps Sluice's terms to OpenTelemetry's semantic conventions for generative AI, which are still in development. */
import type { Operation } from '../contract/operations.ts';

/** `gen_ai.operation.name` if the conventions define one, otherwise Sluice's own name. */
const operationNames: Partial<Record<Operation, string>> = {
  chat: 'chat',
  responses: 'chat',
  completions: 'text_completion',
  embeddings: 'embeddings',
};

export function operationName(operation: Operation | null): string {
  return operation === null ? 'unknown' : (operationNames[operation] ?? operation);
}

/** `gen_ai.provider.name` by preset. */
const providerNames: Readonly<Record<string, string>> = {
  openai: 'openai',
  azure: 'azure.ai.openai',
  groq: 'groq',
  mistral: 'mistral_ai',
  deepseek: 'deepseek',
  xai: 'x_ai',
  perplexity: 'perplexity',
  anthropic: 'anthropic',
  gemini: 'gcp.gemini',
  bedrock: 'aws.bedrock',
  vertex: 'gcp.vertex_ai',
};

/** The conventions' name of a service, otherwise the id of the preset or provider. */
export function providerName(id: string, preset: string | undefined): string {
  return preset === undefined || preset === 'custom' ? id : (providerNames[preset] ?? preset);
}
