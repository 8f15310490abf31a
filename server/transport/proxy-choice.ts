import { isIP } from 'node:net';
import type { AskSystem, ProxyChain } from './system-proxy.ts';

/** Proxy settings from the environment, which only the program's entry reads. */
export interface ProxySettings {
  httpProxy?: string | undefined;
  httpsProxy?: string | undefined;
  noProxy?: string | undefined;
  /** Present if the operating system can be asked; the environment takes precedence. */
  askSystem?: AskSystem | undefined;
}

/**
 * The proxy for requests to `origin`, if the operating system need not be asked. `choice` is `system`, `direct` or a proxy's URL. Requests to this machine
 * never use the system's proxy, even if NO_PROXY omits it, but do use an explicit one.
 */
export function chooseProxy(choice: string, origin: string, settings: ProxySettings): ProxyChain {
  const address = namedProxy(choice, origin, settings);
  if (address === null) return { hops: [null], unusable: [] };
  if (URL.canParse(address)) return { hops: [new URL(address)], unusable: [] };
  // Its text may contain a password, such as one with a `#` that is not encoded.
  const variable = origin.startsWith('https:') ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  return { hops: [], unusable: [`an ${variable} that is not a URL`] };
}

function namedProxy(choice: string, origin: string, settings: ProxySettings): string | null {
  if (choice === 'direct') return null;
  if (choice !== 'system') return choice;
  const target = new URL(origin);
  const proxy = target.protocol === 'https:' ? settings.httpsProxy : settings.httpProxy;
  if (!proxy || isLoopback(target.hostname) || isExempt(target, settings.noProxy ?? '')) return null;
  // curl and others accept `proxy.example:3128`, so people write it.
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

/** Whether the operating system has to be asked: it can be, and neither provider nor environment specify a proxy. */
export function isForSystem(choice: string, origin: string, settings: ProxySettings): boolean {
  if (choice !== 'system' || !settings.askSystem || namedProxy(choice, origin, settings)) return false;
  const target = new URL(origin);
  return !isLoopback(target.hostname) && !isExempt(target, settings.noProxy ?? '');
}

export type DecidedBy = 'provider' | 'environment' | 'system' | 'nobody';

/** Which setting determines the connection to `origin`. */
export function whoDecides(choice: string, origin: string, settings: ProxySettings): DecidedBy {
  if (choice !== 'system') return 'provider';
  if (isForSystem(choice, origin, settings)) return 'system';
  return namedProxy(choice, origin, settings) ? 'environment' : 'nobody';
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/**
 * Parses NO_PROXY as curl does: names including their subdomains, and addresses, each with an optional port; `*` matches
 * all.
 */
function isExempt(target: URL, noProxy: string): boolean {
  const host = plainHost(target.hostname);
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  return noProxy.split(/[\s,]+/).some((entry) => {
    const { name, port: onlyPort } = splitEntry(entry);
    if (!name || (onlyPort && onlyPort !== port)) return false;
    return name === '*' || host === name || (isIP(host) === 0 && host.endsWith(`.${name}`));
  });
}

function splitEntry(entry: string): { name: string; port: string | undefined } {
  const parts = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry);
  // More than one colon and no brackets: an IPv6 address.
  const name = plainHost(parts?.[1] ?? entry);
  return { name: name === '*' ? name : name.replace(/^\*?\./, ''), port: parts?.[2] };
}

function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(.)\.$/, '$1');
}
