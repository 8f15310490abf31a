import type { ConversationApi, ProviderConfig } from '../contract/config.ts';
import { presets } from './presets.ts';

const wires: Record<ConversationApi, string> = { chat: 'openai-chat', responses: 'openai-responses' };

/**
 * The names of the OpenAI conversation wires that a provider has: as configured, else as documented for the address of its
 * preset. Null if that is unknown.
 */
export function servedWires(provider: ProviderConfig): readonly string[] | null {
  return (provider.serves ?? documented(provider))?.map((api) => wires[api]) ?? null;
}

function documented({ preset, dialect, baseUrl }: ProviderConfig): readonly ConversationApi[] | null {
  if (dialect === 'azure') return ['chat', 'responses'];
  return presets.find((each) => each.id === preset && each.baseUrl === baseUrl)?.serves ?? null;
}
