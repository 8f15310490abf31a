import type { Timeouts } from '../contract/policy.ts';
import type { OutgoingRequest } from '../transport/transport.ts';
import type { Dialect, Endpoint } from './dialect.ts';

export interface UpstreamCredential {
  id: string;
  /** Headers that carry the secret. */
  headers: Record<string, string>;
}

/** A configured provider as it can be asked: all that a call needs, and nothing of who may use it. */
export interface Upstream {
  id: string;
  name: string;
  dialect: Dialect;
  endpoint: Endpoint;
  credentials: readonly UpstreamCredential[];
  /** Lower-case names. */
  headers: Record<string, string>;
  timeouts: Timeouts;
  proxy: string;
  /** Its models are to be learnt from itself. */
  discoversModels: boolean;
  /** Why it cannot be used now, for a person; null if it can. */
  unusable: string | null;
}

/** What is told of a model besides its name. */
export interface ModelInfo {
  /** Unix seconds; 0 if unknown. */
  created: number;
  ownedBy: string;
  /** How many tokens it takes, where the list says so. */
  contextTokens?: number;
}

/** Longest that a model list may take; it is a small reply, whatever the limits for real work are. */
const listMs = 15_000;

/** `GET /models` below the base URL, with the first credential. */
export function modelListRequest(upstream: Upstream): OutgoingRequest {
  const { connectMs } = upstream.timeouts;
  return {
    origin: upstream.endpoint.origin,
    method: 'GET',
    path: upstream.dialect.address(upstream.endpoint, '/models', '', null),
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...upstream.headers,
      ...upstream.credentials[0]?.headers,
    },
    body: null,
    timeouts: { connectMs, firstByteMs: listMs, idleMs: listMs, totalMs: connectMs + listMs },
    proxy: upstream.proxy,
  };
}
