/** Maps Sluice's terms to OpenTelemetry's semantic conventions for generative AI, which are still in development. */
import type { TelemetrySettings } from '../contract/observability.ts';
import type { Operation } from '../contract/operations.ts';

export type Conventions = TelemetrySettings['conventions'];

/** The newest of 2026-11 is that of open-telemetry/semantic-conventions-genai, which has no release yet. */
export const schemaUrls: Readonly<Record<Conventions, string>> = {
  current: 'https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev',
  '1.41': 'https://opentelemetry.io/schemas/1.41.0',
};

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

/** Of the service that is called. */
export interface ServiceNames {
  /** `gen_ai.provider.name` */
  name: string;
  /** `server.address` and `server.port`; undefined if the provider was removed. */
  server?: { address: string; port: number } | undefined;
}

export function serviceAttributes({ name, server }: ServiceNames): Record<string, string | number> {
  return {
    'gen_ai.provider.name': name,
    ...(server && { 'server.address': server.address, 'server.port': server.port }),
  };
}

/** Undefined if it is no address. */
export function serverAt(baseUrl: string | undefined): ServiceNames['server'] {
  const url = baseUrl === undefined ? null : URL.parse(baseUrl);
  if (!url) return undefined;
  return { address: url.hostname, port: Number(url.port) || (url.protocol === 'http:' ? 80 : 443) };
}

/** The conventions' name of a service, otherwise the id of the preset or provider. */
export function providerName(id: string, preset: string | undefined): string {
  return preset === undefined || preset === 'custom' ? id : (providerNames[preset] ?? preset);
}
