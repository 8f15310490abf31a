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
