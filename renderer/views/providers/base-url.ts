import type { DialectId } from '../../../server/contract/config.ts';

/** Those of the services that each dialect is named after. */
export const exampleBaseUrls: Readonly<Record<DialectId, string>> = {
  openai: 'https://api.openai.com/v1',
  azure: 'https://{resource}.openai.azure.com/openai/v1',
  anthropic: 'https://api.anthropic.com',
  gemini: 'https://generativelanguage.googleapis.com/v1beta',
  bedrock: 'https://bedrock-runtime.{region}.amazonaws.com',
  vertex: 'https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}',
};

/** What is in braces in the base URL of a preset has to be filled in by the person: `https://{resource}.example.com/v1`. */
const placeholder = /\{([^{}]+)\}/g;

/** Their names, each once, in order. */
export function placeholdersOf(baseUrl: string): string[] {
  return [...new Set([...baseUrl.matchAll(placeholder)].map(([, name]) => name ?? ''))];
}

/** What has no value yet stays in its braces. */
export function fillPlaceholders(baseUrl: string, values: Readonly<Record<string, string>>): string {
  return baseUrl.replace(placeholder, (whole, name: string) => values[name]?.trim() || whole);
}

/** Whether it can be used as a base URL: `http` or `https`, and nothing left in braces. */
export function isBaseUrl(text: string): boolean {
  const url = URL.parse(text.trim());
  return url !== null && /^https?:$/.test(url.protocol) && !/[{}]|%7B|%7D/i.test(text);
}
