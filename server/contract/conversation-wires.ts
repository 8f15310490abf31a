/** Wire names of the conversation APIs. */
export const conversationWires = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini-generate'] as const;

export type ConversationWire = (typeof conversationWires)[number];
