/**
 * What Sluice serves: operations, the wires of conversations, and what it passes on. Does not import zod, because the
 * window imports it.
 */

/** The API's capabilities, in the order in which they are shown. Does not import zod, because the window imports it. */
export const capabilities = [
  'chat',
  'completions',
  'responses',
  'embeddings',
  'moderations',
  'images',
  'transcription',
  'translation',
  'speech',
  'videos',
] as const;
export type Capability = (typeof capabilities)[number];

/**
 * The recorded purpose of a request: a capability; `realtime`, a WebSocket session; or `passthrough`, a request that is
 * forwarded unchanged to one provider.
 */
export const operations = [...capabilities, 'realtime', 'passthrough'] as const;
export type Operation = (typeof operations)[number];

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

/**
 * Which provider may receive the requests that Sluice does not serve itself. Does not import zod, because the window
 * imports it.
 *
 * The group of the first key. Its only provider receives these requests without a setting.
 */
export const defaultGroupId = 'default';

/** Whether providers of a dialect have such paths. Every dialect must be listed. */
export const passesThrough = {
  openai: true,
  azure: true,
  anthropic: true,
  gemini: true,
  bedrock: false,
  vertex: false,
} satisfies Record<string, boolean>;
