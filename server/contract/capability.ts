/** The API's capabilities, in the order in which they are shown. Without zod, since the window imports it. */
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
 * What a request is for, as it is recorded: a capability; `realtime`, a session over a WebSocket; or `passthrough`, which is
 * all that Sluice hands to one provider as it is.
 */
export const operations = [...capabilities, 'realtime', 'passthrough'] as const;
export type Operation = (typeof operations)[number];
