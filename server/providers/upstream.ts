import type { Dialect, Endpoint, Signing } from '../apis/core/dialects/dialect.ts';
import type { Timeouts } from '../contract/policy.ts';
import type { OutgoingRequest } from '../transport/transport.ts';

export interface UpstreamCredential {
  id: string;
  /** The headers that contain the secret. */
  headers: Record<string, string>;
  /** Absent if no other headers are needed. */
  signing?: Signing;
}

/** A configured provider with everything that a call needs. */
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
  /** The fingerprint of the one certificate that is trusted for it; null: those of trusted authorities. */
  certificate: string | null;
  /** Which of OpenAI's conversation wires it serves, preferred first; null if unknown. */
  servedWires: readonly string[] | null;
  /** Whether its models are discovered. */
  discoversModels: boolean;
  /** Why the provider cannot be used now, as a text for people; null if it can. */
  unusable: string | null;
}

/** A model's properties other than its name. */
/** Of a provider whose list could not be had so far, unlike one that lists none. */
export const unknownModels: ReadonlyMap<string, ModelInfo> = new Map();

export interface ModelInfo {
  /** Unix seconds; 0 if unknown. */
  created: number;
  ownedBy: string;
  /** Its context window in tokens, if the list includes it. */
  contextTokens?: number;
}

/** Timeout for a model list, independent of the configured timeouts. */
const listMs = 15_000;

/**
 * The request for one page of the model list, with the headers of the first credential. If that has `signing`, the
 * caller still has to add those headers. `page` is an identifier from `ModelPages`.
 */
export function modelListRequest(upstream: Upstream, page = upstream.dialect.modelPages.first): OutgoingRequest {
  const { dialect, endpoint, timeouts } = upstream;
  const { connectMs } = timeouts;
  const pageAddress = dialect.modelPages.place?.(endpoint, page);
  return {
    origin: pageAddress?.origin ?? endpoint.origin,
    method: 'GET',
    path: pageAddress?.path ?? dialect.address(endpoint, '/models', page, null),
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...dialect.defaultHeaders,
      ...pageAddress?.headers,
      ...upstream.headers,
      ...upstream.credentials[0]?.headers,
    },
    body: null,
    timeouts: { connectMs, firstByteMs: listMs, idleMs: listMs, totalMs: connectMs + listMs },
    proxy: upstream.proxy,
    certificate: upstream.certificate,
  };
}
