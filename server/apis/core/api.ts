/**
 * What clients of one API share across its operations: paths, where they put the key, and the format of errors. Pure,
 * like the wires of its routes. `registry.ts` finds the API of a request.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayError } from '../../contract/errors.ts';
import type { StreamFormat } from './stream-format.ts';
import type { RequestView, SessionFormat, Wire } from './wire.ts';

/** Where a URL lies within an API. */
export interface ApiLocation {
  /** As in the API's routes, percent-encoded. */
  path: string;
  /** Includes the `?`, or is empty. */
  query: string;
  /** The model that the URL names outside the path, decoded; null if it names none. */
  model: string | null;
}

/** A model in a list of models. */
export interface ListedModel {
  id: string;
  /** In seconds since 1970; 0 if unknown. */
  created: number;
  /** Its provider, or the owner that the provider states. */
  ownedBy: string;
}

export interface ModelsFormat {
  /** The id of the requested model, decoded; empty for the list of all, null if the path is neither. */
  askedIn(path: string): string | null;
  writeList(models: readonly ListedModel[]): object;
  writeOne(model: ListedModel): object;
}

/** A path that has no route but may exist at the API's own service. */
export type PassthroughPath =
  | {
      route: Route;
      /** As `route.path`, with each id written as `{id}`. */
      label: string;
      /** The path's segments after the first, decoded; some of them are ids. */
      names: readonly string[];
      /** The only id in the path; null if there are several or none. */
      onlyId: string | null;
      /**
       * The member of an answer that identifies an object which the request has made: its `id`, or, if there is one, its `name`,
       * a path that ends with the id. Null if nothing is to be remembered.
       */
      objectMember: 'id' | 'name' | null;
    }
  /** Why the path cannot be reached through Sluice. */
  | { refusal: string };

export interface Api {
  readonly name: string;
  /** Prefix of the routes' paths in logs and errors: `/v1`. */
  readonly base: string;
  readonly routes: readonly Route[];
  /** Format of the list of models, which Sluice answers itself; null if the API has none. */
  readonly models: ModelsFormat | null;
  /** Path for a key's limits and usage, in Sluice's own format; null if there is none. */
  readonly usagePath: string | null;
  /** Finds paths that are passed through to a provider of the same API. Absent: none are. */
  readonly passthroughPath?: (method: string, path: string) => PassthroughPath | null;
  /** Path at which clients check whether the server is up, with or without a key; null if there is none. */
  readonly helloPath: string | null;
  /** Null if the path, whoever asks for it, is none of this API. `query` includes the `?`, or is empty. */
  locate(path: string, query: string): ApiLocation | null;
  /**
   * Whether a request bears what only clients of this API send. Then paths that several APIs may have are this one's, if
   * `locateShared` finds them in it. Absent for the API to which they belong otherwise.
   */
  readonly isSpokenIn?: (headers: IncomingHttpHeaders, query: string) => boolean;
  readonly locateShared?: (path: string, query: string) => ApiLocation | null;
  /** The path that a client which called `path`, no path of this API, probably meant; null if unclear. */
  betterPath(path: string): string | null;
  /** All keys that the request presents; the first one counts. `query` includes the `?`, or is empty. */
  readKeys(headers: IncomingHttpHeaders, query: string): readonly string[];
  /** An error of Sluice's own as the body of a response. */
  writeError(error: GatewayError): string;
  /** The status of that response. */
  statusOf(error: GatewayError): number;
  /** Content type of an error's body. */
  readonly errorType: string;
  /** The response header from which the API's SDKs read the request id. */
  readonly requestIdHeader: string;
  /** Response headers that the API's SDKs evaluate, besides the body of an error. */
  errorHeaders(error: GatewayError): Readonly<Record<string, string>>;
}

// One path and method that clients may call, and what is known about it before its body is read.

/** `passed`: any body, forwarded unchanged. */
type BodyKind = 'none' | 'json' | 'multipart' | 'json-or-multipart' | 'passed';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * `creates`: the response's `id` is a new job. `uses`: the path names a job. `creates-from`: the path names a job, and the
 * response is a new one. `deletes`: the path names a job, which is then gone.
 */
type JobBehaviour = 'creates' | 'uses' | 'creates-from' | 'deletes';

export interface Route {
  readonly method: Method;
  /**
   * Relative to the API's base; `:id` or `:model` stands for one percent-encoded segment, `{model}` for the model that the
   * API's `locate` has found in the URL. May end in the query that belongs to it.
   */
  readonly path: string;
  readonly wire: Wire;
  readonly body: BodyKind;
  /** `optional`: a request without a model goes to the group's default for the operation, or to its only provider. */
  readonly model: 'required' | 'optional' | 'none';
  readonly modelIn: 'body' | 'path';
  /** `path`: each response is a stream if the route has a format of streams, whatever the body says. */
  readonly streamIn: 'body' | 'path';
  /** The wire's stream format, if responses of this route may be streams. */
  readonly stream: StreamFormat | null;
  /** The route of the same operation without a stream; null if it is this one. */
  readonly unstreamed: Route | null;
  /** Calls of this route cost nothing, such as counting tokens. */
  readonly isFree: boolean;
  /** Writes the answer of a route that counts tokens, for estimates of Sluice; null if the route does not count tokens. */
  readonly writeTokenCount: ((tokens: number) => object) | null;
  /** Which requests of this route are purchases: see `isPurchase`. */
  readonly purchases: 'none' | 'all' | 'background';
  readonly job: { kind: 'video' | 'response'; behaviour: JobBehaviour } | null;
  /** The response may redirect to storage; Sluice follows without credentials. */
  readonly content: boolean;
  /** Format of the WebSocket session that the request opens; null for all other routes. */
  readonly session: SessionFormat | null;
}

/**
 * Whether a repetition of the request would make a second object, or a second bill, that the client cannot see: a video, an
 * image, a batch, an answer that is worked on in the background. Such a request is repeated only if nothing can have been made
 * (`errors/verdict.ts`).
 */
export function isPurchase({ purchases, wire }: Route, body: RequestView<string>): boolean {
  return purchases === 'all' || (purchases === 'background' && wire.request.isBackground(body));
}

/** Defaults of a route. */
export const plainRoute = {
  body: 'json',
  model: 'none',
  modelIn: 'body',
  streamIn: 'body',
  stream: null,
  unstreamed: null,
  isFree: false,
  writeTokenCount: null,
  purchases: 'none',
  job: null,
  content: false,
  session: null,
} as const;
