import type { Dialect } from '../dialect.ts';

/** The OpenAI API, and all who speak it: paths and bodies as the client sent them. */
export const openai: Dialect = {
  id: 'openai',
  putsModelInPath: false,
  address: (endpoint, path, query) => endpoint.basePath + path + query,
  serves: (wire) => wire.startsWith('openai-'),
  conversationWire: 'openai-chat',
  authorize: (secret) => ({ authorization: `Bearer ${secret}` }),
};
