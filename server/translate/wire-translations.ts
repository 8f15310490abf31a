/** The wires that can be translated into one another. */
import { anthropicMessages } from './anthropic-messages/translation.ts';
import { geminiGenerate } from './gemini-generate/translation.ts';
import type { WireName } from './neutral.ts';
import { openaiChat } from './openai-chat/translation.ts';
import { openaiResponses } from './openai-responses/translation.ts';
import type { WireTranslation } from './wire-translation.ts';

/** Whether requests of the wire with this name can be translated. */
export function isWireName(name: string): name is WireName {
  return Object.hasOwn(wireTranslations, name);
}

export const wireTranslations: Record<WireName, WireTranslation> = {
  'anthropic-messages': anthropicMessages,
  'gemini-generate': geminiGenerate,
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
};
