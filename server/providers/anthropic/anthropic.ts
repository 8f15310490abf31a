import { isObject } from '../../contract/is-object.ts';
import type { Dialect, ModelPages } from '../dialect.ts';

/** Anthropic's own keys; those of users' accounts, which go into the other header, begin with `sk-ant-oat`. */
const ownKey = 'sk-ant-';
const accountToken = 'sk-ant-oat';

/** Anthropic, "List models": at most 1,000 a page. */
const modelPages: ModelPages = {
  first: '?limit=1000',
  after: (page) =>
    isObject(page) && page.has_more === true && typeof page.last_id === 'string'
      ? `?limit=1000&after_id=${encodeURIComponent(page.last_id)}`
      : null,
};

/**
 * Anthropic's API, and services that offer it beside their own (DeepSeek, Z.ai, Moonshot, MiniMax, Ollama, vLLM). Base URLs
 * are with `/v1`, or without, as Anthropic's SDKs take them (`https://api.anthropic.com`, `https://api.deepseek.com/anthropic`).
 *
 * Of what clients do not send themselves, the version alone is added: version 2023-06-01 is the one in which requests are
 * translated. Betas go up as the client has them.
 */
export const anthropic: Dialect = {
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

/** vLLM reads `Authorization` alone, Anthropic `x-api-key`; other services read either, so a key that is not Anthropic's goes into both. */
function authorize(secret: string): Record<string, string> {
  const bearer = { authorization: `Bearer ${secret}` };
  if (secret.startsWith(accountToken)) return bearer;
  return secret.startsWith(ownKey) ? { 'x-api-key': secret } : { 'x-api-key': secret, ...bearer };
}
