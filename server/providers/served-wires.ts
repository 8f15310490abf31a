import type { ConversationApi, ProviderConfig } from '../contract/config.ts';
import { presets } from './presets.ts';

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
