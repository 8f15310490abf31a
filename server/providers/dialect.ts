/**
 * A dialect is the wire format a provider speaks. It is pure: it says where a call goes and under which headers, and
 * knows no sockets, no configuration store and no request of a client. One folder each; `registry.ts` lists them.
 */
import type { DialectId } from '../contract/config.ts';

/** What of a provider a dialect needs to address a call. */
export interface Endpoint {
  origin: string;
  /** Path of the base URL, without a slash at its end: `/v1`. */
  basePath: string;
  /** Azure's, if configured. */
  apiVersion: string | undefined;
}

export interface Dialect {
  id: DialectId;
  /** Whether `address` may put the model into the path; then a model that is no segment of one has no address. */
  putsModelInPath: boolean;
  /**
   * Where a call goes. `path` is the client's path below `/v1`, `query` with its `?` or empty, `model` the upstream
   * model (null where the call names none).
   */
  address(endpoint: Endpoint, path: string, query: string, model: string | null): string;
  /** Whether its providers take requests on the wire of that name (`server/wire`) as they are. */
  serves(wire: string): boolean;
  /** The name of the wire on which they are asked what clients of other APIs say. */
  conversationWire: string;
  /** The headers that carry a credential. */
  authorize(secret: string): Record<string, string>;
}
