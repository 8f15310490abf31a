import { isObject } from '../../../contract/is-object.ts';
import type { Dialect, ModelPages } from '../../core/dialects/dialect.ts';

const versionAtEnd = /\/v\d\w*$/;

/** Google, "models.list": at most 1,000 per page. */
const modelPages: ModelPages = {
  first: '?pageSize=1000',
  after: (page) =>
    isObject(page) && typeof page.nextPageToken === 'string' && page.nextPageToken !== ''
      ? `?pageSize=1000&pageToken=${encodeURIComponent(page.nextPageToken)}`
      : null,
};

/**
 * Google's Gemini API (AI Studio). Base URLs may end with `/v1beta` or omit it, as Google's SDKs do. The path contains
 * the model and may end with `?alt=sse`; the client's query is appended.
 */
export const geminiDialect: Dialect = {
  id: 'gemini',
  // `address` inserts it itself, because it must be percent-encoded and the name of a tuned model contains a slash.
  putsModelInPath: false,
  address({ basePath }, path, query, model) {
    const base = versionAtEnd.test(basePath) ? basePath : `${basePath}/v1beta`;
    if (path.startsWith('/upload/'))
      return base.replace(versionAtEnd, (version) => path.replace('/upload', `/upload${version}`)) + query;
    const rest = path.includes('?') ? query.replace('?', '&') : query;
    return base + path.replace('models/{model}', () => resourceOf(model ?? '')) + rest;
  },
  serves: (wire) => wire.startsWith('gemini-'),
  conversationWire: 'gemini-generate',
  embeddingsWire: 'gemini-embeddings',
  // A `thoughtSignature` is bound to the model, not to the account.
  bindsReasoning: false,
  defaultHeaders: {},
  modelPages,
  authorize: (secret) => ({ 'x-goog-api-key': secret }),
};

const tuned = 'tunedModels/';

/** Resource name for the path: `models/gemini-2.5-pro`, `tunedModels/my-own`. */
function resourceOf(model: string): string {
  return model.startsWith(tuned)
    ? tuned + encodeURIComponent(model.slice(tuned.length))
    : `models/${encodeURIComponent(model.replace(/^models\//, ''))}`;
}
