import { isObject } from '../../../contract/is-object.ts';
import type { Dialect, ModelPages } from '../../core/dialects/dialect.ts';

/** OpenAI's own list has one page; some compatible services list theirs like OpenAI's other lists. */
const modelPages: ModelPages = {
  first: '',
  after(page, query) {
    if (!isObject(page) || page.has_more !== true || !Array.isArray(page.data)) return null;
    const last: unknown =
      page.last_id ?? page.data.findLast((entry) => isObject(entry) && typeof entry.id === 'string')?.id;
    const next = typeof last === 'string' ? `?after=${encodeURIComponent(last)}` : null;
    // A server that ignores the position repeats its first page.
    return next === query ? null : next;
  },
};

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
  modelPages,
  authorize: (secret) => ({ authorization: `Bearer ${secret}` }),
};
