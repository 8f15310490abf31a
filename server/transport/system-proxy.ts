/**
 * The proxies that the operating system names for an address, by its settings or by its PAC script, which only it can
 * run. Owns asking and remembering; an answer holds until it is forgotten, since it may differ from network to network.
 */

/** Ways to an address in the order in which they are to be tried; null is the direct one. */
export interface ProxyChain {
  hops: readonly (URL | null)[];
  /** What was named besides and cannot be used, such as `SOCKS proxy.example:1080`. */
  unusable: readonly string[];
}

/** Answers as a PAC script does, such as `PROXY proxy.example:8080; DIRECT`. */
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
        // A system that cannot say has none.
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
