/** Wire names of the conversation APIs that clients speak. */
export const conversationWires = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini-generate'] as const;

export type ConversationWire = (typeof conversationWires)[number];

/** Wires by which providers are called. Bedrock's Converse API has no clients here. */
const upstreamWires = [...conversationWires, 'bedrock-converse'] as const;

export type UpstreamWire = (typeof upstreamWires)[number];

/** What people call them, in every language. */
export const wireLabels: Readonly<Record<UpstreamWire, string>> = {
  'openai-chat': 'Chat Completions',
  'openai-responses': 'Responses',
  'anthropic-messages': 'Anthropic Messages',
  'gemini-generate': 'Gemini',
  'bedrock-converse': 'Bedrock Converse',
};
