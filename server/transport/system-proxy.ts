/**
 * The operating system's proxies for a URL, from its settings or its PAC script, which only the system can run. Caches
 * answers until they are forgotten, since they may depend on the network.
 */

/** Proxies for a URL in the order in which they are tried; null is a direct connection. */
export interface ProxyChain {
  hops: readonly (URL | null)[];
  /** Named by the system but not supported, such as `SOCKS proxy.example:1080`. */
  unusable: readonly string[];
}

/** Answers in PAC format, such as `PROXY proxy.example:8080; DIRECT`. */
export type AskSystem = (url: string) => Promise<string>;

interface SystemProxies {
  chainTo(origin: string): Promise<ProxyChain>;
  forget(): void;
}

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
