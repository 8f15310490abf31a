/** The APIs in which conversations can be had, by the names of their wires. */
export const conversationWires = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini-generate'] as const;

export type ConversationWire = (typeof conversationWires)[number];
