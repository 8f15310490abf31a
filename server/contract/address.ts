/** The addresses of Sluice: where it listens, and where people and programs reach it. */
import type { StatusView } from './status-views.ts';

/** The host by which this machine reaches a server listening on `host`; loopback if that is a wildcard address. */
export function reachableHost(host: string): string {
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
}

/** The origin by which this machine reaches a server: `http://127.0.0.1:4810`. */
export function reachableOrigin({ host, port }: { host: string; port: number }): string {
  const reachable = reachableHost(host);
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** The base URL of OpenAI's API at an origin. */
export function baseUrlAt(origin: string): string {
  return `${origin}/v1`;
}

/**
 * The base URL to give to clients, wherever they run: the public address if there is one. While Sluice does not listen,
 * the one at which it would by its settings.
 */
export function baseUrlOf({ baseUrl, settings }: Pick<StatusView, 'baseUrl' | 'settings'>): string {
  return baseUrl ?? baseUrlAt(reachableOrigin(settings));
}

/** The same as an origin, for clients that add the path themselves. */
export function originOf(status: Pick<StatusView, 'baseUrl' | 'settings'>): string {
  return new URL(baseUrlOf(status)).origin;
}

/** Whether people and programs reach Sluice at another address than the one where it listens: `serve --public-url`. */
export function isBehindPublicAddress({ baseUrl, listensAt }: Pick<StatusView, 'baseUrl' | 'listensAt'>): boolean {
  return baseUrl !== null && listensAt !== null && baseUrl !== baseUrlAt(listensAt);
}
