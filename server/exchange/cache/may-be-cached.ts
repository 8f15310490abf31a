/** Which requests the response cache answers. */
import type { IncomingHttpHeaders } from 'node:http';
import { addsToConversation } from '../../apis/core/requests/client-session.ts';
import { runsNothingAtProvider } from '../../apis/core/requests/tool-runners.ts';
import { parseObject } from '../../apis/json/parse-object.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import type { CacheSettings } from '../../contract/answer-cache.ts';
import type { RequestBody } from '../request/request-body.ts';

export const cacheHeader = 'x-sluice-cache';

/** `refresh`: the request is sent, and its answer replaces the stored one. */
export type CacheUse = 'none' | 'normal' | 'refresh';

interface CacheableCall {
  match: RouteMatch;
  body: RequestBody;
}

/** Longer bodies take too long to hash on the event loop. */
const maxRequestBytes = 8 * 1024 * 1024;
/** Longer bodies take too long to parse; they are cached only on request. */
const maxParsedBytes = 512 * 1024;

export function cacheUseOf(call: CacheableCall, headers: IncomingHttpHeaders, { forced }: CacheSettings): CacheUse {
  const requestedUse = String(headers[cacheHeader] ?? '')
    .trim()
    .toLowerCase();
  const control = String(headers['cache-control'] ?? '').toLowerCase();
  if (requestedUse === 'skip' || control.includes('no-store') || !mayBeKept(call)) return 'none';
  if (!forced && requestedUse !== 'use' && !isDeterministic(call)) return 'none';
  return control.includes('no-cache') ? 'refresh' : 'normal';
}

/** Whether the answer depends on the request alone and leaves nothing behind at the provider. */
function mayBeKept({ match, body }: CacheableCall): boolean {
  const { route } = match;
  if (route.method !== 'POST' || match.passthrough !== null || route.session !== null) return false;
  if (body.captured === null || body.isSingleUse || body.size > maxRequestBytes) return false;
  if (body.fields.previousResponseId !== null) return false;
  return route.job === null || isUnstoredResponse({ match, body });
}

function isUnstoredResponse({ match: { route }, body }: CacheableCall): boolean {
  if (route.job?.kind !== 'response' || route.job.behaviour !== 'creates' || body.fields.store) return false;
  return !route.wire.request.isBackground(body) && !addsToConversation(body);
}

/** Whether the request asks for a deterministic answer. */
function isDeterministic({ match: { route }, body }: CacheableCall): boolean {
  const { operation } = route.wire;
  if (route.writeTokenCount || operation === 'embeddings' || operation === 'moderations') return true;
  if (operation !== 'chat' && operation !== 'completions' && operation !== 'responses') return false;
  if (body.captured === null || body.size > maxParsedBytes) return false;
  const request = parseObject(body.captured.toString('utf8'));
  return request !== null && route.wire.request.temperatureOf(request) === 0 && runsNothingAtProvider(request);
}
