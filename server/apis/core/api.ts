/**
 * What clients of one API share across its operations: paths, where they put the key, and the format of errors. Pure,
 * like the wires of its routes. `registry.ts` finds the API of a request.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayError } from '../../contract/errors.ts';
import type { Route } from './route.ts';

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
