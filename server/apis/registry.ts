/** The APIs that clients can speak. Finds the API and the route of a request. */
import type { IncomingHttpHeaders } from 'node:http';
import { type ErrorCode, GatewayError } from '../contract/errors.ts';
import { boundedPattern } from '../ground/bounded-pattern.ts';
import { anthropicApi } from './anthropic/routes.ts';
import { bedrockRoutes } from './bedrock/routes.ts';
import type { Api, ApiLocation, Route } from './core/api.ts';
import {
  decodeSegment,
  isUnambiguousSegment,
  withoutDoubledSlashes,
  withoutDoubledSlashesBefore,
} from './core/requests/segments.ts';
import type { UsageFormat, Wire } from './core/wire.ts';
import { geminiApi, vertexRoutes } from './gemini/routes.ts';
import type { WatchedMember } from './json/json-names.ts';
import { openaiApi } from './openai/routes.ts';

/**
 * The APIs that Sluice serves. Paths of no API are answered in the format of the first one. Later ones are tried first,
 * so an API that claims some paths of another one comes after it.
 */
export const servedApis: readonly [Api, ...Api[]] = [openaiApi, anthropicApi, geminiApi];

/** Routes of APIs that only providers speak. */
const upstreamRoutes: readonly Route[] = [...bedrockRoutes, ...vertexRoutes];

const wires: ReadonlySet<Wire> = new Set(
  [...servedApis.flatMap(({ routes }) => routes), ...upstreamRoutes].map(({ wire }) => wire),
);

/** The top-level fields of JSON bodies that the wires read. */
export const requestFields: readonly string[] = [...new Set([...wires].flatMap(({ request }) => request.fields))];

/** The members further inside that a wire wants to know of. Their bits are the wire's own, so only one wire may have any. */
export const watchedMembers: readonly WatchedMember[] = [...wires].flatMap(
  ({ request }) => request.fitting?.watched ?? [],
);

export interface RequestLocation extends ApiLocation {
  api: Api;
  /** False if the path belongs to no API. */
  isKnown: boolean;
}

/** A passthrough path, which has no route of its own. */
export interface PassthroughMatch {
  /** Segments of the path, decoded, some of which are ids. */
  names: readonly string[];
  /** The only id in the path; null if there are several or none. */
  onlyId: string | null;
  /** The error if the group has no passthrough provider. */
  unserved: { code: ErrorCode; message: string };
  objectMember: 'id' | 'name' | null;
}

export interface RouteMatch {
  api: Api;
  route: Route;
  /** For logs and errors: `/v1/videos/{id}/content`. */
  label: string;
  /** The path's `:id`, decoded. */
  id: string | null;
  /** The model that the URL names, decoded. */
  model: string | null;
  /** Index of the path's variable segment, or -1. */
  openSegment: number;
  /** Null unless it is a passthrough path. */
  passthrough: PassthroughMatch | null;
}

interface AskedUrl {
  path: string;
  query: string;
  headers: IncomingHttpHeaders;
}

interface ListedRoute {
  route: Route;
  label: string;
  openSegment: number;
}

/** The routes of one path, by method. */
type Methods = Map<string, ListedRoute>;

interface RouteTable {
  plain: Map<string, Methods>;
  /** Paths with a variable segment, split into segments. */
  open: { segments: string[]; openSegment: number; methods: Methods }[];
}

export class Registry {
  readonly #apis: readonly [Api, ...Api[]];
  /** In the order in which they are tried. */
  readonly #apisInOrder: readonly Api[];
  readonly #tables = new Map<Api, RouteTable>();
  /**
   * Locations of routes without variable segments, by URL: nearly all requests are found here, without trying any API.
   */
  readonly #fixedLocations = new Map<string, RequestLocation>();
  /** By the wire's name. */
  readonly #conversationRoutes = new Map<string, Route>();
  /** Routes whose answers are never streamed, by the wire's name; of several for embeddings, the one for the most texts. */
  readonly #wholeRoutes = new Map<string, Route>();
  /** Routes that count tokens, by the wire's name. */
  readonly #countingRoutes = new Map<string, Route>();

  /** Paths of no API are refused in the format of the first. */
  constructor(apis: readonly [Api, ...Api[]]) {
    this.#apis = apis;
    this.#apisInOrder = apis.toReversed();
    for (const api of apis) {
      this.#tables.set(api, tableOf(api));
      for (const route of api.routes) this.#notePlace(api, route);
    }
    for (const route of [...apis.flatMap(({ routes }) => routes), ...upstreamRoutes]) {
      if (route.writeTokenCount) this.#countingRoutes.set(route.wire.name, route);
      if (route.stream && route.method === 'POST') this.#conversationRoutes.set(route.wire.name, route);
      else if (route.method === 'POST' && !route.writeTokenCount) this.#wholeRoutes.set(route.wire.name, route);
    }
  }

  #notePlace(api: Api, route: Route): void {
    // For some GET requests, such as listing the models, the headers decide to which API they belong.
    if (route.method !== 'POST') return;
    const url = api.base + route.path;
    const located = this.#ask(url, {});
    // URLs that contain a model name or an id cannot be listed in advance.
    if (located.api === api && located.path === route.path && located.model === null && !route.path.includes('/:')) {
      this.#fixedLocations.set(url, located);
    }
  }

  /** The paths of all APIs at which clients check whether the server is up. */
  get helloPaths(): readonly string[] {
    return this.#apis.map(({ helloPath }) => helloPath).filter((path) => path !== null);
  }

  /** Finds the API to which a URL belongs. */
  locate(url: string, headers: IncomingHttpHeaders = {}): RequestLocation {
    return this.#fixedLocations.get(url) ?? this.#ask(url, headers);
  }

  #ask(url: string, headers: IncomingHttpHeaders): RequestLocation {
    const queryStart = url.indexOf('?');
    const path = queryStart === -1 ? url : url.slice(0, queryStart);
    const asked = { path, query: queryStart === -1 ? '' : url.slice(queryStart), headers };
    if (!path.includes('//')) return this.#place(asked);
    const forgiven = this.#place({ ...asked, path: withoutDoubledSlashes(path) });
    return this.#isServed(forgiven) ? forgiven : this.#place({ ...asked, path: withoutDoubledSlashesBefore(path) });
  }

  /**
   * The API that alone has such a path; or that whose client asks, unless the path is a route of the first one, to which all
   * others of its version belong.
   */
  #place({ path, query, headers }: AskedUrl): RequestLocation {
    const [first] = this.#apis;
    const located = this.#located(path, query);
    if (located && located.api !== first) return located;
    const speaker = this.#apisInOrder.find((api) => api.isSpokenIn?.(headers, query));
    if (located && (!speaker || this.hasPath(located))) return located;
    const shared = speaker?.locateShared?.(path, query);
    if (speaker && shared) return { ...shared, api: speaker, isKnown: true };
    if (located) return located;
    const api = speaker ?? this.#apis.find((each) => each.betterPath(path) !== null) ?? first;
    return { api, path, query, model: null, isKnown: false };
  }

  #located(path: string, query: string): RequestLocation | null {
    for (const api of this.#apisInOrder) {
      const location = api.locate(path, query);
      if (location) return { ...location, api, isKnown: true };
    }
    return null;
  }

  /** Whether Sluice answers the path itself or has a route for it that names no id, which may have been left out. */
  #isServed({ api, path, isKnown }: RequestLocation): boolean {
    const isOwn = path === api.usagePath || api.models?.askedIn(path) === '';
    return isKnown && (isOwn || this.#tables.get(api)?.plain.has(path) === true);
  }

  /** Throws GatewayError `unknown_url`, `method_not_allowed`, or `invalid_value` for a path that servers read differently. */
  find(method: string, located: RequestLocation): RouteMatch {
    const { api, path, isKnown } = located;
    const match = isKnown ? this.#match(method, located) : null;
    if (match && 'route' in match) return match;
    const mayNameModel = namesModel.test(path);
    if (isKnown && !mayNameModel) checkSegments(path);
    const unserved = whyUnserved(method, located, match?.allowed ?? null);
    const passthrough = isKnown ? (api.passthroughPath?.(method, path) ?? null) : null;
    if (!passthrough) throw new GatewayError(unserved.code, unserved.message);
    if ('refusal' in passthrough) throw new GatewayError(unserved.code, `${unserved.message} ${passthrough.refusal}`);
    // Then it goes on in the client's spelling.
    if (mayNameModel) checkSegments(path);
    const { route, label, names, onlyId, objectMember } = passthrough;
    const found = { api, route, label: api.base + label, id: null, model: null, openSegment: -1 };
    return { ...found, passthrough: { names, onlyId, unserved, objectMember } };
  }

  /** Whether there is a route with this path, for any method. */
  hasPath(located: RequestLocation): boolean {
    return located.isKnown && this.#match('GET', located) !== null;
  }

  /** Whether a GET there opens a WebSocket session. */
  opensSession(located: RequestLocation): boolean {
    const match = located.isKnown ? this.#match('GET', located) : null;
    return match !== null && 'route' in match && match.route.session !== null;
  }

  /** The route for upstream requests of conversations on this wire, streamed or not; null if no API has it. */
  conversationRoute(wireName: string, isStream: boolean): Route | null {
    const route = this.#conversationRoutes.get(wireName) ?? null;
    return isStream ? route : (route?.unstreamed ?? route);
  }

  /** The route for whole answers on this wire; null if no API has it. */
  wholeRoute(wireName: string): Route | null {
    return this.conversationRoute(wireName, false) ?? this.#wholeRoutes.get(wireName) ?? null;
  }

  /** The route that counts tokens of requests on this wire; null if no API has it. */
  countingRoute(wireName: string): Route | null {
    return this.#countingRoutes.get(wireName) ?? null;
  }

  /** How the response that creates a job of this kind reports usage; null if no API has such jobs. */
  usageOf(kind: string): UsageFormat | null {
    const routes = this.#apis.flatMap((api) => api.routes);
    const maker = routes.find(({ job }) => job?.kind === kind && job.behaviour === 'creates');
    return maker?.wire.usage ?? null;
  }

  #match(method: string, { api, path, model }: RequestLocation): RouteMatch | { allowed: string[] } | null {
    const table = this.#tables.get(api);
    const methods = table?.plain.get(path);
    if (methods) return choose(api, methods, { method, open: null, model });
    const segments = path.split('/');
    for (const each of table?.open ?? []) {
      if (!isAlike(segments, each)) continue;
      const open = decodeSegment(segments[each.openSegment] ?? '');
      return choose(api, each.methods, { method, open, model });
    }
    return null;
  }
}

const maxShownLength = 200;

/** A model's name may contain slashes, and is never passed on in the client's spelling. */
const namesModel = boundedPattern(/^\/(?:models|tunedModels|deployments)\//);

/** @throws GatewayError `invalid_value` if an upstream might read a segment of the path in another way than Sluice */
function checkSegments(path: string): void {
  const odd = path.split('/').find((segment) => !isUnambiguousSegment(segment));
  if (odd === undefined) return;
  const shown = odd.slice(0, maxShownLength);
  const message = `Invalid path: servers may read '${shown}' in different ways. Write each id as it is, without slashes, "?", "#", "%", ";", blanks, control characters or dots alone.`;
  throw new GatewayError('invalid_value', message);
}

/** `allowed`: the methods of routes with the same path; null if there are none. */
function whyUnserved(
  method: string,
  { api, path, isKnown }: RequestLocation,
  allowed: readonly string[] | null,
): PassthroughMatch['unserved'] {
  const shownPath = `${isKnown ? api.base : ''}${path.slice(0, maxShownLength)}`;
  if (allowed) {
    const message = `Not allowed to ${method} on ${shownPath}. Allowed: ${allowed.join(', ')}.`;
    return { code: 'method_not_allowed', message };
  }
  const hint = isKnown ? '' : hintFor(path, api);
  return { code: 'unknown_url', message: `Invalid URL (${method} ${shownPath}).${hint}` };
}

/** How to set the base URL of a client that has called an unknown path. */
function hintFor(path: string, { base, betterPath }: Api): string {
  const better = betterPath(path);
  if (better === null) return '';
  const how = path.endsWith(better)
    ? `it has "${path.slice(0, -better.length).slice(0, maxShownLength)}" too much`
    : `it lacks "${base}" at its end`;
  return ` Set the base URL of your client so that it calls ${better.slice(0, maxShownLength)}: ${how}.`;
}

interface Named {
  method: string;
  /** Value of the variable segment. */
  open: string | null;
  model: string | null;
}

function choose(api: Api, methods: Methods, { method, open, model }: Named): RouteMatch | { allowed: string[] } {
  const found = methods.get(method === 'HEAD' ? 'GET' : method);
  if (!found) return { allowed: [...methods.keys()] };
  const namesModel = found.route.modelIn === 'path';
  return {
    api,
    ...found,
    id: namesModel ? null : open,
    model: namesModel ? (open ?? model) : model,
    passthrough: null,
  };
}

function isAlike(segments: readonly string[], open: RouteTable['open'][number]): boolean {
  if (segments.length !== open.segments.length || segments[open.openSegment] === '') return false;
  return open.segments.every((segment, index) => index === open.openSegment || segment === segments[index]);
}

function tableOf(api: Api): RouteTable {
  const byPath = new Map<string, Methods>();
  const table: RouteTable = { plain: new Map(), open: [] };
  for (const route of api.routes) {
    const segments = route.path.split('/');
    const openSegment = segments.findIndex((segment) => segment.startsWith(':'));
    let methods = byPath.get(route.path);
    if (!methods) {
      methods = new Map();
      byPath.set(route.path, methods);
      if (openSegment === -1) table.plain.set(route.path, methods);
      else table.open.push({ segments, openSegment, methods });
    }
    methods.set(route.method, { route, label: `${api.base}${labelOf(segments)}`, openSegment });
  }
  return table;
}

function labelOf(segments: readonly string[]): string {
  return segments.map((segment) => (segment.startsWith(':') ? `{${segment.slice(1)}}` : segment)).join('/');
}
