import type { Timeouts } from '../contract/policy.ts';
import type { OutgoingRequest } from '../transport/transport.ts';
import type { Dialect, Endpoint, Signing } from './dialect.ts';

export interface UpstreamCredential {
  id: string;
  /** The headers with the secret. */
  headers: Record<string, string>;
  /** Absent if these headers are all. */
  signing?: Signing;
}

/** A configured provider, with everything that a call needs. */
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
  /** Which of OpenAI's conversation wires it serves, preferred first; null if unknown. */
  servedWires: readonly string[] | null;
  /** Whether its models are discovered. */
  discoversModels: boolean;
  /** Why it cannot be used now, for a person; null if it can. */
  unusable: string | null;
}

/** A model's properties besides its name. */
export interface ModelInfo {
  /** Unix seconds; 0 if unknown. */
  created: number;
  ownedBy: string;
  /** Its context window in tokens, if the list has it. */
  contextTokens?: number;
}

/** Timeout for a model list, independent of the configured timeouts. */
const listMs = 15_000;

/** `GET /models` below the base URL, with the first credential. `query`: selects the page; the first one by default. */
export function modelListRequest(upstream: Upstream, query = upstream.dialect.modelPages.first): OutgoingRequest {
  const { connectMs } = upstream.timeouts;
  return {
    origin: upstream.endpoint.origin,
    method: 'GET',
    path: upstream.dialect.address(upstream.endpoint, '/models', query, null),
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...upstream.dialect.defaultHeaders,
      ...upstream.headers,
      ...upstream.credentials[0]?.headers,
    },
    body: null,
    timeouts: { connectMs, firstByteMs: listMs, idleMs: listMs, totalMs: connectMs + listMs },
    proxy: upstream.proxy,
  };
}
