import { type Dialect, onePage } from '../../core/dialects/dialect.ts';

/** OpenAI and compatible services. */
export const openaiDialect: Dialect = {
  id: 'openai',
  putsModelInPath: false,
  address: (endpoint, path, query) => endpoint.basePath + path + query,
  serves: (wire) => wire.startsWith('openai-'),
  conversationWire: 'openai-chat',
  embeddingsWire: 'openai-embeddings',
  bindsReasoning: false,
  defaultHeaders: {},
  takesIdempotencyKeys: true,
  modelPages: onePage,
  authorize: (secret) => ({ authorization: `Bearer ${secret}` }),
};
