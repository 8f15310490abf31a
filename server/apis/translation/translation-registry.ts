/** The wires that can be translated into one another. */
import { anthropicMessages } from '../anthropic/translation/translation.ts';
import { bedrockConverse } from '../bedrock/translation/translation.ts';
import { geminiGenerate } from '../gemini/translation/translation.ts';
import type { UpstreamTranslation, WireTranslation } from '../neutral/answers/wire-translation.ts';
import type { UpstreamWireName, WireName } from '../neutral/conversation.ts';
import type { Loss } from '../neutral/losses.ts';
import { openaiChat } from '../openai/chat/translation.ts';
import { openaiResponses } from '../openai/responses/translation.ts';
import { type Unsealed, withoutSeals } from './returned-seals.ts';

/** Whether requests of clients of this wire can be translated. */
export function isWireName(name: string): name is WireName {
  return Object.hasOwn(wireTranslations, name);
}

/** Whether requests can be translated into this wire. */
export function isUpstreamWireName(name: string): name is UpstreamWireName {
  return Object.hasOwn(upstreamTranslations, name);
}

export const wireTranslations: Record<WireName, WireTranslation> = {
  'anthropic-messages': anthropicMessages,
  'gemini-generate': geminiGenerate,
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
};

export const upstreamTranslations: Record<UpstreamWireName, UpstreamTranslation> = {
  ...wireTranslations,
  'bedrock-converse': bedrockConverse,
};

/** What a client's headers ask for that is lost in translation. Any client may send the headers of any API. */
export function headerLosses(headers: Readonly<Record<string, string>>): Loss[] {
  return Object.values(wireTranslations).flatMap((wire) => wire.headerLosses?.(headers) ?? []);
}

/** The body without its reasoning, which a provider has refused; null if there is none, so that a retry would not help. */
export function withoutReasoning(wire: string, body: Buffer, model: string): Unsealed | null {
  if (!isWireName(wire)) return null;
  const { withoutReasoning: without } = wireTranslations[wire];
  if (!without) return withoutSeals(wire, body, model);
  const reduced = without(body);
  return reduced && { body: reduced, losses: [{ fate: 'dropped', field: 'thinking', code: 'foreign-reasoning' }] };
}
