import { isIP } from 'node:net';
import type { AskSystem } from './system-proxy.ts';

/** Proxies as the environment names them; read by the program's entry, never here. */
export interface ProxySettings {
  httpProxy?: string | undefined;
  httpsProxy?: string | undefined;
  noProxy?: string | undefined;
  /** Where the operating system can be asked; the environment goes before it. */
  askSystem?: AskSystem | undefined;
}

/**
 * The proxy that a request to `origin` goes through, or null. `choice` is `system`, `direct` or a proxy's URL. A proxy of
 * the system is no way to this machine itself, whatever NO_PROXY forgot to say; one that was chosen by hand is.
 */
export function chooseProxy(choice: string, origin: string, settings: ProxySettings): URL | null {
  if (choice === 'direct') return null;
  if (choice !== 'system') return new URL(choice);
  const target = new URL(origin);
  const proxy = target.protocol === 'https:' ? settings.httpsProxy : settings.httpProxy;
  if (!proxy || isLoopback(target.hostname) || isExempt(target, settings.noProxy ?? '')) return null;
  // curl and others take `proxy.example:3128`, so people write it.
  return new URL(proxy.includes('://') ? proxy : `http://${proxy}`);
}

/** Whether only the operating system knows: it can be asked, and neither provider nor environment say anything else. */
export function isForSystem(choice: string, origin: string, settings: ProxySettings): boolean {
  if (choice !== 'system' || !settings.askSystem || chooseProxy(choice, origin, settings)) return false;
  const target = new URL(origin);
  return !isLoopback(target.hostname) && !isExempt(target, settings.noProxy ?? '');
}

export type DecidedBy = 'provider' | 'environment' | 'system' | 'nobody';

/** Who says how `origin` is reached. */
export function whoDecides(choice: string, origin: string, settings: ProxySettings): DecidedBy {
  if (choice !== 'system') return 'provider';
  if (isForSystem(choice, origin, settings)) return 'system';
  return chooseProxy(choice, origin, settings) ? 'environment' : 'nobody';
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** NO_PROXY as curl reads it: names with all that is below them, addresses, each with a port if one is meant; `*` is all. */
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
