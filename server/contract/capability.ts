/** What a request can ask for, in the order in which a person is shown them. Bears no schema, since it goes into the window. */
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
