/**
 * What clients of one API share, whatever they ask for: its paths, where they put their key, and how they are told of an
 * error. Pure, like the wires that its routes name. `registry.ts` finds the API of a request.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayError } from '../contract/errors.ts';
import type { Route } from './route.ts';

/** Where in an API a URL leads. */
export interface Place {
  /** As the API's routes name it, percent-encoded. */
  path: string;
  /** With its `?`, or empty. */
  query: string;
  /** Named in the URL beside the path, decoded; null where it is not. */
  model: string | null;
}

/** What is told of a model. */
export interface ListedModel {
  id: string;
  /** In seconds since 1970; 0 where nobody knows. */
  created: number;
  /** Its provider, or who it says it is of. */
  ownedBy: string;
}

export interface ModelsFormat {
  /** The model that a path asks for, decoded; empty for the list of them, null for a path that asks for neither. */
  askedIn(path: string): string | null;
  writeList(models: readonly ListedModel[]): object;
  writeOne(model: ListedModel): object;
}
/** A path that the API's own service may know although no route is for it. */
export type PassedPath =
  | {
      route: Route;
      /** As `route.path`: each id is `{id}`. */
      label: string;
      /** Its segments but for the first, decoded: some of them are ids. */
      names: readonly string[];
      /** Its id; null where it has several or none. */
      onlyId: string | null;
    }
  /** It is not to be reached through Sluice, and why. */
  | { refusal: string };

export interface Api {
  readonly name: string;
  /** What stands before its routes' paths where they are shown: `/v1`. */
  readonly base: string;
  readonly routes: readonly Route[];
  /** The models that there are, which Sluice itself tells; null where nobody can ask for them. */
  readonly models: ModelsFormat | null;
  /** Where a key learns of its limits and what it has used, in a form of Sluice's own; null where nowhere. */
  readonly usagePath: string | null;
  /** What of the service Sluice does not know goes to a provider of the same API as it is. Absent: nothing does. */
  readonly passedPath?: (method: string, path: string) => PassedPath | null;
  /** Where its clients ask whether anybody is there, whoever they are; null where they do not. */
  readonly helloPath: string | null;
  /** Null for a path that is none of its. `query` with its `?`, or empty. Two APIs may share a path: then headers tell. */
  locate(path: string, query: string, headers: IncomingHttpHeaders): Place | null;
  /** What a client that called `path`, which is no path of this API, probably meant; null where nobody can tell. */
  betterPath(path: string): string | null;
  /** All that may be the client's key, the one that counts first. `query` with its `?`, or empty. */
  readKeys(headers: IncomingHttpHeaders, query: string): readonly string[];
  /** An error of Sluice's own as the body of a response. */
  writeError(error: GatewayError): string;
  /** The status of that response. */
  statusOf(error: GatewayError): number;
  /** Content type of such a body. */
  readonly errorType: string;
  /** The header in which its SDKs look for the id of a request. */
  readonly requestIdHeader: string;
  /** What its SDKs look at besides an error's body. */
  errorHeaders(error: GatewayError): Readonly<Record<string, string>>;
}
