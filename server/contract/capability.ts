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
