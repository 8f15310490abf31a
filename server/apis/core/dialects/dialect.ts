/**
 * A dialect determines the address and the credential headers of a call. Pure. Each has its own folder and is listed in
 * `registry.ts`.
 */
import type { DialectId } from '../../../contract/config.ts';
import type { OutgoingRequest, ResponseHeaders, Transport } from '../../../transport/transport.ts';

/** A provider's address. */
export interface Endpoint {
  origin: string;
  /** Path of the base URL without a trailing slash: `/v1`. */
  basePath: string;
  /** Azure's `api-version`, if configured. */
  apiVersion: string | undefined;
}

/** How to request a list of models page by page. */
export interface ModelPages {
  /** Identifies the first page: a query with its `?`, or a string for `place`. Empty for a list without pages. */
  readonly first: string;
  /** Identifies the page after `page`, which is parsed JSON and was requested as `query`. null after the last page. */
  after(page: unknown, query: string): string | null;
  /** Where the page is. If absent: at `/models` below the base URL. */
  place?(endpoint: Endpoint, query: string): { origin: string; path: string; headers: Record<string, string> };
  /**
   * The names of a page's models; null if the page is not a list. If absent, the format is one of those that
   * `parseModelList` knows.
   */
  read?(page: unknown): readonly unknown[] | null;
  /** Whether the response means that the credential is valid but may not list models. */
  isRightMissing?(status: number, body: Buffer): boolean;
}

/** For a list without pages. */
export const onePage: ModelPages = { first: '', after: () => null };

/** Parts of a request that a cloud does not accept. */
export interface Unavailable {
  /** Header values, as `anthropic-beta:NAME`. */
  readonly betas: readonly string[];
  /** Top-level fields of the body. The request need not contain them. */
  readonly fields: readonly string[];
}

export const allAvailable: Unavailable = { betas: [], fields: [] };

type JsonObject = Readonly<Record<string, unknown>>;

/** How a request in the API of a model's maker must be changed for a cloud. */
export interface Envelope {
  /** Below the base URL, percent-encoded, including its query. */
  path: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** Top-level fields that are removed from the body because the address contains them. */
  omitted: readonly string[];
  /** Top-level fields that are added to the body. */
  added: Readonly<Record<string, unknown>>;
  /**
   * Makes the cloud's body of the maker's, for example by wrapping it in that of another operation; `write` keeps the
   * digits of numbers. If absent, the body is sent as it is.
   */
  rewrite?(body: JsonObject, write: (value: object) => string): JsonObject;
  /** Parts of the maker's API that the cloud lacks. They are left out. */
  unavailable: Unavailable;
}

/** A request in the API of a model's maker. */
export interface EnvelopedRequest {
  /** The path in the maker's API, with `{model}` if that has the model in its path. */
  path: string;
  headers: Readonly<Record<string, string>>;
  isStream: boolean;
}

/** Converts one stream, piece by piece, to server-sent events. */
export interface StreamUnpacker {
  /** @throws TransportError `malformed` if the bytes are not such a stream */
  push(bytes: Buffer): Buffer;
  /** Whether the stream has ended between two events. */
  readonly isBetweenEvents: boolean;
}

/** A model that a cloud offers in the API of its maker. */
export interface HostedModel {
  /** The name of the wire through which the model is called. */
  readonly wire: string;
  /** The name of its embeddings wire; null if it makes no embeddings. */
  readonly embeddingsWire: string | null;
  /** Whether `envelope` accepts the maker's route for counting tokens. */
  readonly countsTokens: boolean;
  envelope(request: EnvelopedRequest): Envelope;
  /** The body of an error response in the format of the wire's API; the same buffer if it already has that format. */
  errorBody(status: number, headers: ResponseHeaders, body: Buffer): Buffer;
  /** Absent if its streams are server-sent events. Loaded on first use, with the packages that it needs. */
  readonly unpacking?: { contentType: string; load(): Promise<() => StreamUnpacker> };
}

/** Authenticates each request with headers that cannot be prepared in advance: a signature, or a token that expires. */
export interface Signing {
  /** Strings that must not appear in the log or the ledger. */
  readonly secrets: readonly string[];
  /**
   * @throws GatewayError `provider_credential_refused`
   * @throws TransportError if a token is needed and the server that issues it cannot be reached
   */
  headersFor(request: SignedRequest, transport: Transport): Promise<Record<string, string>>;
  /**
   * Called when a credential was refused. Returns true if the request was signed at a time too far from the server's
   * clock. Signatures follow the server's clock from then on, so the request can be signed and sent again. Absent if
   * signatures have no time.
   */
  correctClock?(sentHeaders: SignedRequest['headers'], answerHeaders: ResponseHeaders): boolean;
}

export type SignedRequest = Pick<OutgoingRequest, 'origin' | 'method' | 'path' | 'headers' | 'body' | 'proxy'>;

export interface Dialect {
  id: DialectId;
  /** Whether `address` may put the model into the path. If so, the model must be a valid path segment. */
  putsModelInPath: boolean;
  /**
   * The path and query of a call. `path` is the client's path below `/v1`, `query` includes its `?` or is empty, and
   * `model` is the upstream model or null.
   */
  address(endpoint: Endpoint, path: string, query: string, model: string | null): string;
  /** Whether its providers accept untranslated requests on the wire with this name (`apis/core/wire.ts`). */
  serves(wire: string): boolean;
  /** The name of the wire into which requests of other APIs are translated. */
  conversationWire: string;
  /** The name of the embeddings wire of its providers; null if they have no embeddings, or if that depends on the model. */
  embeddingsWire: string | null;
  /**
   * Whether reasoning is only valid for the account that produced it. If so, credentials rotate between conversations
   * but not within one.
   */
  bindsReasoning: boolean;
  /** Headers that its services require, for requests whose client has not sent them. Lower-case names. */
  defaultHeaders: Readonly<Record<string, string>>;
  /** Whether a request that makes something may carry an `Idempotency-Key`, which those of its services that know it honour. */
  takesIdempotencyKeys?: boolean;
  modelPages: ModelPages;
  /** Whether its services accept more models than they list, such as an account's own models. */
  hasUnlistedModels?: boolean;
  /** The headers that carry a credential. */
  authorize(secret: string): Record<string, string>;
  /** Absent, or null for this secret, if the headers of `authorize` suffice. */
  signing?(secret: string): Signing | null;
  /**
   * How the model with this name is called, if a cloud offers models of several makers. `serves` is then false for
   * every wire.
   */
  hosted?(model: string): HostedModel;
}
