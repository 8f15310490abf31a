/** Which proxy a call goes through: the provider's own, those of the environment, or the operating system's. */

import { isLoopback } from '../contract/address.ts';
import { type BypassRule, bypassEntries, parseBypass } from '../contract/host-rule.ts';

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
export function decidedBy(choice: string, origin: string, settings: ProxySettings): DecidedBy {
  if (choice !== 'system') return 'provider';
  if (isForSystem(choice, origin, settings)) return 'system';
  return namedProxy(choice, origin, settings) ? 'environment' : 'nobody';
}

function isExempt(target: URL, noProxy: string): boolean {
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  return bypassRules(noProxy).some(
    (rule) => (rule.port === undefined || rule.port === port) && rule.matches(target.hostname),
  );
}

let latest: { noProxy: string; rules: readonly BypassRule[] } = { noProxy: '', rules: [] };

/** Remembered, because each request asks and the list hardly ever changes. */
function bypassRules(noProxy: string): readonly BypassRule[] {
  if (latest.noProxy !== noProxy) {
    const rules = bypassEntries(noProxy).map(parseBypass);
    latest = { noProxy, rules: rules.filter((rule) => rule !== null) };
  }
  return latest.rules;
}

/** Proxies for a URL in the order in which they are tried; null is a direct connection. */
export interface ProxyChain {
  hops: readonly (URL | null)[];
  /** Named by the system but not supported, such as `SOCKS proxy.example:1080`. */
  unusable: readonly string[];
}

/** Answers in PAC format, such as `PROXY proxy.example:8080; DIRECT`. */
type AskSystem = (url: string) => Promise<string>;

interface SystemProxies {
  chainTo(origin: string): Promise<ProxyChain>;
  forget(): void;
}

/**
 * The operating system's proxies for a URL, from its settings or its PAC script, which only the system can run. Caches
 * answers until they are forgotten, since they may depend on the network.
 */
export function createSystemProxies(ask: AskSystem): SystemProxies {
  const chains = new Map<string, Promise<ProxyChain>>();
  return {
    chainTo(origin) {
      let chain = chains.get(origin);
      if (!chain) {
        // If the system cannot answer, there is no proxy.
        chain = ask(`${origin}/`).then(parsePacAnswer, () => parsePacAnswer('DIRECT'));
        chains.set(origin, chain);
      }
      return chain;
    },
    forget: () => chains.clear(),
  };
}

const schemes: Record<string, string> = { PROXY: 'http', HTTP: 'http', HTTPS: 'https' };

export function parsePacAnswer(answer: string): ProxyChain {
  const hops: (URL | null)[] = [];
  const unusable: string[] = [];
  for (const entry of answer.split(';').map((part) => part.trim())) {
    const [kind = '', address] = entry.split(/\s+/);
    const scheme = schemes[kind.toUpperCase()];
    if (kind.toUpperCase() === 'DIRECT') hops.push(null);
    else if (scheme && address && URL.canParse(`${scheme}://${address}`)) hops.push(new URL(`${scheme}://${address}`));
    else if (entry) unusable.push(entry);
  }
  return hops.length === 0 && unusable.length === 0 ? { hops: [null], unusable } : { hops, unusable };
}
