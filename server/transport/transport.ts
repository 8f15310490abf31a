/**
 * The only outgoing path: HTTP to upstream providers over pooled connections. Owns sockets, timeouts by phase, proxies
 * and certificate authorities. Knows nothing of providers, models or body contents.
 */
import type { Readable } from 'node:stream';
import type { Timeouts } from '../contract/policy.ts';
import type { ConnectionPools } from './connection-pools.ts';
import type { DecidedBy, ProxyChain } from './proxy-choice.ts';
import type { TransportError } from './transport-error.ts';

/** Without `firstContentMs`, since only the response's reader recognises content. */
export type PhaseLimits = Omit<Timeouts, 'firstContentMs'>;

export interface OutgoingRequest {
  /** `https://api.openai.com` */
  origin: string;
  method: string;
  /** Includes the query. */
  path: string;
  headers: Record<string, string>;
  body: Buffer | Readable | null;
  timeouts: PhaseLimits;
  /** `system`, `direct` or a proxy's URL. */
  proxy: string;
  /** The SHA-256 fingerprint of the only certificate to accept. Absent or null: any that a trusted authority has issued. */
  certificate?: string | null;
}

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Receives a response; the last call is exactly one of `onEnd` and `onError`. */
export interface ResponseHandler {
  /** The connection is established and the request is being sent. */
  onSending?(): void;
  /** The last byte of the request has been sent. */
  onSent?(): void;
  onHeaders(status: number, headers: ResponseHeaders): void;
  /** Everything that one read of the connection returned. */
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: TransportError): void;
}

/** Held by the reader of the response, for back-pressure and to abort. */
export interface UpstreamCall {
  pause(): void;
  resume(): void;
  /**
   * Closes the upstream connection at once; `onError` follows with fault `aborted`. Does nothing once the response has
   * ended.
   */
  abort(): void;
}

/** The proxies in use, and where that setting comes from. */
type DecidedProxyChain = ProxyChain & { by: DecidedBy };

export interface Transport extends Pick<ConnectionPools, 'connect'> {
  send(request: OutgoingRequest, handler: ResponseHandler): UpstreamCall;
  /** The proxies for requests to `origin`, in the order in which they are tried. `choice` as in `OutgoingRequest.proxy`. */
  chainTo(origin: string, choice: string): Promise<DecidedProxyChain>;
  /**
   * Called after sleep or when the network, proxies or certificates changed: the next request opens a new connection with
   * the current settings. Running requests continue if they can.
   */
  leaveConnections(): void;
  close(): Promise<void>;
}
