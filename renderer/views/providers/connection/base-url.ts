import { cleanBaseUrl } from '../../../../server/contract/address.ts';
import type { DialectId } from '../../../../server/contract/config.ts';

/** Base URLs of the service that each dialect is named after. */
export const exampleBaseUrls: Readonly<Record<DialectId, string>> = {
  openai: 'https://api.openai.com/v1',
  azure: 'https://{resource}.openai.azure.com/openai/v1',
  anthropic: 'https://api.anthropic.com',
  gemini: 'https://generativelanguage.googleapis.com/v1beta',
  bedrock: 'https://bedrock-runtime.{region}.amazonaws.com',
  vertex: 'https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}',
};

/** Placeholders in the base URL of a preset, which the person has to fill in: `https://{resource}.example.com/v1`. */
const placeholder = /\{([^{}]+)\}/g;

/** The names of the placeholders in order, without duplicates. */
export function placeholdersOf(baseUrl: string): string[] {
  return [...new Set([...baseUrl.matchAll(placeholder)].map(([, name]) => name ?? ''))];
}

/** Placeholders without a value are left as they are. */
export function fillPlaceholders(baseUrl: string, values: Readonly<Record<string, string>>): string {
  return baseUrl.replace(placeholder, (whole, name: string) => values[name]?.trim() || whole);
}

/** Whether the text is understood as a base URL: `http` or `https`, without placeholders. */
export function isBaseUrl(text: string): boolean {
  const url = URL.parse(cleanBaseUrl(text));
  return url !== null && /^https?:$/.test(url.protocol) && !/[{}]|%7B|%7D/i.test(text);
}
