/** The routes of all wires, and which of them a request is for. A wire is added by its table in `routes`. */
import { GatewayError } from '../contract/errors.ts';
import { openaiRoutes } from './openai/routes.ts';
import type { Route } from './route.ts';

const routes: readonly Route[] = [...openaiRoutes];

export interface RouteMatch {
  route: Route;
  /** The path's `:id`, decoded. */
  id: string | null;
}

const byPath = new Map<string, Map<string, Route>>();
for (const route of routes) {
  const methods = byPath.get(route.path) ?? new Map<string, Route>();
  byPath.set(route.path, methods.set(route.method, route));
}

/** A request's URL below `/v1`. A base URL that was given with `/v1` twice is meant once. */
export function splitUrl(url: string): { path: string; query: string } {
  const mark = url.indexOf('?');
  const whole = mark === -1 ? url : url.slice(0, mark);
  const query = mark === -1 ? '' : url.slice(mark);
  let path = whole.slice('/v1'.length);
  while (path.startsWith('/v1/')) path = path.slice('/v1'.length);
  if (path.length > 1 && path.endsWith('/')) path = path.slice(0, -1);
  return { path, query };
}

/** The route of a path from `splitUrl`. Throws GatewayError `unknown_url` or `method_not_allowed`. */
export function findRoute(method: string, path: string): RouteMatch {
  const match = matchRoute(method, path);
  if (match && 'route' in match) return match;
  if (match) {
    throw new GatewayError(
      'method_not_allowed',
      `Not allowed to ${method} on /v1${path}. Allowed: ${match.allowed.join(', ')}.`,
    );
  }
  throw new GatewayError('unknown_url', `Invalid URL (${method} /v1${path.slice(0, 200)}).`);
}

/** Segments are told apart before `%2F` is decoded. */
function matchRoute(method: string, path: string): RouteMatch | { allowed: string[] } | null {
  const plain = byPath.get(path);
  if (plain) return choose(plain, method, null);
  const segments = path.split('/');
  const id = segments[2];
  const methods = id && byPath.get(segments.with(2, ':id').join('/'));
  return methods ? choose(methods, method, decodeSegment(id)) : null;
}

function choose(methods: Map<string, Route>, method: string, id: string | null): RouteMatch | { allowed: string[] } {
  const route = methods.get(method === 'HEAD' ? 'GET' : method);
  return route ? { route, id } : { allowed: [...methods.keys()] };
}

/** A path whose `:id` is another. */
export function withJobId(path: string, id: string): string {
  return path.split('/').with(2, encodeURIComponent(id)).join('/');
}

/** A stray `%` is the client's own and stays. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
