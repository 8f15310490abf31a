/** A dialect determines the address and the credential headers of a call. Pure. One folder each, listed in `registry.ts`. */
import type { DialectId } from '../contract/config.ts';
import type { OutgoingRequest, ResponseHeaders, Transport } from '../transport/transport.ts';

/** A provider's address. */
export interface Endpoint {
  origin: string;
  /** Path of the base URL without a trailing slash: `/v1`. */
  basePath: string;
  /** Azure's `api-version`, if configured. */
  apiVersion: string | undefined;
}

/** How to request a list of models, page by page. */
export interface ModelPages {
  /** Names the first page: a query with its `?`, or what `place` reads. Empty for a list without pages. */
  readonly first: string;
  /** Names the page after `page`, which is parsed JSON and was named `asked`; null after the last. */
  after(page: unknown, asked: string): string | null;
  /** Where the page is. Absent: at `/models` below the base URL. */
  place?(endpoint: Endpoint, asked: string): { origin: string; path: string; headers: Record<string, string> };
  /** The names of a page's models; null if it is no list. Absent: in one of the forms that `parseModelList` knows. */
  read?(page: unknown): readonly unknown[] | null;
  /** Whether the credential is good and only lacks the right to list models. */
  isRightMissing?(status: number, body: Buffer): boolean;
}

/** For lists without pages. */
export const onePage: ModelPages = { first: '', after: () => null };

/** Parts of a request that a cloud cannot take. */
export interface Unavailable {
  /** Values of headers, as `anthropic-beta:NAME`. */
  readonly betas: readonly string[];
  /** Top-level fields of the body; the request need not have them. */
  readonly fields: readonly string[];
}

export const allAvailable: Unavailable = { betas: [], fields: [] };

type JsonObject = Readonly<Record<string, unknown>>;

/** What a cloud wants otherwise than the maker of a model, of a request in the maker's API. */
export interface Envelope {
  /** Below the base URL, percent-encoded, with the query that belongs to it. */
  path: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** Top-level fields that are left out of the body, because the address has them. */
  omitted: readonly string[];
  /** Additional top-level fields of the body. */
  added: Readonly<Record<string, unknown>>;
  /** Puts the body into that of another operation; `write` keeps the digits of numbers. Absent: it is sent as it is. */
  wrapped?(body: JsonObject, write: (value: object) => string): JsonObject;
  /** Fields of the maker's API that the cloud does not support, and that are therefore omitted. */
  unavailable: Unavailable;
}

/** A request in the API of a model's maker. */
export interface EnvelopedRequest {
  /** Of the maker's route, with `{model}` where that has the model in its path. */
  path: string;
  headers: Readonly<Record<string, string>>;
  isStream: boolean;
}

/** Turns the pieces of one stream into server-sent events. */
export interface StreamUnpacker {
  /** @throws TransportError `malformed` if the bytes are no such stream */
  push(bytes: Buffer): Buffer;
  /** Whether the stream has ended between two events. */
  readonly isBetweenEvents: boolean;
}

/** A model that a cloud offers in the API of its maker. */
export interface HostedModel {
  /** The name of the model's wire. */
  readonly wire: string;
  /** The name of the wire on which it makes embeddings; null if it makes none. */
  readonly embeddingsWire: string | null;
  /** The name of the wire on which it makes images, unless `wire` is Gemini's, which has them, too; null if it makes none. */
  readonly imagesWire: 'bedrock-images' | null;
  /** Whether `envelope` takes the route on which the maker's API counts tokens. */
  readonly countsTokens: boolean;
  envelope(request: EnvelopedRequest): Envelope;
  /** The body of an error response in the words of the wire's API; the same buffer if it has them already. */
  errorBody(status: number, headers: ResponseHeaders, body: Buffer): Buffer;
  /** Absent if its streams are server-sent events. Loaded on first use, with the packages that it needs. */
  readonly unpacking?: { contentType: string; load(): Promise<() => StreamUnpacker> };
}

/** Authenticates each request with headers that cannot be prepared in advance: a signature, or a token that expires. */
export interface Signing {
  /** What must not appear in log or ledger. */
  readonly secrets: readonly string[];
  /**
   * @throws GatewayError `provider_credential_refused`
   * @throws TransportError if a token is needed and the token endpoint did not answer
   */
  headersFor(request: SignedRequest, transport: Transport): Promise<Record<string, string>>;
}

export type SignedRequest = Pick<OutgoingRequest, 'origin' | 'method' | 'path' | 'headers' | 'body' | 'proxy'>;

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
  /** The name of the embeddings wire of its providers; null if they have no embeddings, or if that depends on the model. */
  embeddingsWire: string | null;
  /**
   * Whether reasoning is only valid for the account that produced it, so that credentials rotate between conversations but
   * not within one.
   */
  bindsReasoning: boolean;
  /** Headers that its services require, for requests whose client has not sent them. Lower-case names. */
  defaultHeaders: Readonly<Record<string, string>>;
  modelPages: ModelPages;
  /** Its services accept more models than they list, such as those of an account's own. */
  hasUnlistedModels?: boolean;
  /** The headers that carry a credential. */
  authorize(secret: string): Record<string, string>;
  /** Absent, or null for this secret, if the headers of `authorize` suffice. */
  signing?(secret: string): Signing | null;
  /** How a model of this name is asked, where a cloud offers those of several makers; then `serves` is false for each wire. */
  hosted?(model: string): HostedModel;
}
