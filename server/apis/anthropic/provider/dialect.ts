import { isObject } from '../../../contract/is-object.ts';
import type { Dialect, ModelPages } from '../../core/dialects/dialect.ts';

/** Prefix of Anthropic's API keys. OAuth tokens of user accounts begin with `sk-ant-oat` and use the other header. */
const ownKey = 'sk-ant-';
const accountToken = 'sk-ant-oat';

/** Anthropic, "List models": at most 1,000 per page. */
const modelPages: ModelPages = {
  first: '?limit=1000',
  after: (page) =>
    isObject(page) && page.has_more === true && typeof page.last_id === 'string'
      ? `?limit=1000&after_id=${encodeURIComponent(page.last_id)}`
      : null,
};

/**
 * Anthropic's API, and services that offer it in addition to their own (DeepSeek, Z.ai, Moonshot, MiniMax, Ollama,
 * vLLM). Base URLs may end with `/v1` or omit it, as Anthropic's SDKs do (`https://api.anthropic.com`,
 * `https://api.deepseek.com/anthropic`).
 *
 * If the client sends no `anthropic-version`, Sluice adds 2023-06-01, the version of its translations. The client's
 * `anthropic-beta` is forwarded unchanged.
 */
export const anthropicDialect: Dialect = {
  id: 'anthropic',
  putsModelInPath: false,
  address: ({ basePath }, path, query) => (basePath.endsWith('/v1') ? basePath : `${basePath}/v1`) + path + query,
  serves: (wire) => wire.startsWith('anthropic-'),
  conversationWire: 'anthropic-messages',
  embeddingsWire: null,
  bindsReasoning: true,
  defaultHeaders: { 'anthropic-version': '2023-06-01' },
  modelPages,
  authorize,
};

/** vLLM reads only `Authorization`, Anthropic reads `x-api-key`, other services read either; other keys are sent in both. */
function authorize(secret: string): Record<string, string> {
  const bearer = { authorization: `Bearer ${secret}` };
  if (secret.startsWith(accountToken)) return bearer;
  return secret.startsWith(ownKey) ? { 'x-api-key': secret } : { 'x-api-key': secret, ...bearer };
}
