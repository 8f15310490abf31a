/** A dialect determines the address and the credential headers of a call. Pure. One folder each, listed in `registry.ts`. */
import type { DialectId } from '../contract/config.ts';

/** A provider's address. */
export interface Endpoint {
  origin: string;
  /** Path of the base URL without a trailing slash: `/v1`. */
  basePath: string;
  /** Azure's `api-version`, if configured. */
  apiVersion: string | undefined;
}

/** How to request a model list that has several pages. */
export interface ModelPages {
  /** The query of the first page, with its `?`; empty for a list without pages. */
  readonly first: string;
  /** The query of the page after `page`, which is parsed JSON; null after the last. */
  after(page: unknown): string | null;
}

/** For lists without pages. */
export const onePage: ModelPages = { first: '', after: () => null };

export interface Dialect {
  id: DialectId;
  /** Whether `address` may put the model into the path; the model must then be a valid path segment. */
  putsModelInPath: boolean;
  /**
   * The path and query of a call. `path`: the client's path below `/v1`; `query`: with its `?`, or empty; `model`: the
   * upstream model, or null.
   */
  address(endpoint: Endpoint, path: string, query: string, model: string | null): string;
  /** Whether its providers accept untranslated requests on the wire with this name (`server/wire`). */
  serves(wire: string): boolean;
  /** The name of the wire into which requests of other APIs are translated. */
  conversationWire: string;
  /** The name of the embeddings wire of its providers; null if they have no embeddings. */
  embeddingsWire: string | null;
  /**
   * Whether reasoning is only valid for the account that produced it, so that credentials rotate between conversations but
   * not within one.
   */
  bindsReasoning: boolean;
  /** Headers that its services require, for requests whose client has not sent them. Lower-case names. */
  defaultHeaders: Readonly<Record<string, string>>;
  modelPages: ModelPages;
  /** The headers that carry a credential. */
  authorize(secret: string): Record<string, string>;
}
