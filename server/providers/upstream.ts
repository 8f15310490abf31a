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

/** A page of the list of models, with the first credential, which may have to sign it. `page`: as `ModelPages` names it. */
export function modelListRequest(upstream: Upstream, page = upstream.dialect.modelPages.first): OutgoingRequest {
  const { dialect, endpoint, timeouts } = upstream;
  const { connectMs } = timeouts;
  const place = dialect.modelPages.place?.(endpoint, page);
  return {
    origin: place?.origin ?? endpoint.origin,
    method: 'GET',
    path: place?.path ?? dialect.address(endpoint, '/models', page, null),
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...dialect.defaultHeaders,
      ...place?.headers,
      ...upstream.headers,
      ...upstream.credentials[0]?.headers,
    },
    body: null,
    timeouts: { connectMs, firstByteMs: listMs, idleMs: listMs, totalMs: connectMs + listMs },
    proxy: upstream.proxy,
  };
}
