/**
 * Entries of lists of hosts: NO_PROXY, `noProxy` and `allowedHosts`. Whoever accepts an entry and whoever applies it
 * reads it here, so that an accepted entry also matches. Pure.
 */
import { isInNetwork, parseAddress, parseNetwork } from './ip-network.ts';

/** `host`: as `URL.hostname` gives it, or with capitals or a final dot. */
export type HostRule = (host: string) => boolean;

const pattern = /^[\p{L}\p{N}_.*:-]+$/u;

/**
 * Reads `*`, a name (`example.com`, also `.example.com` and `*.example.com`), a pattern (`10.*`), an address or a
 * network (`10.0.0.0/8`, `fd00::/8`). A name includes its subdomains if `subdomains` is set. Null if no host can match.
 */
export function parseHostRule(entry: string, { subdomains }: { subdomains: boolean }): HostRule | null {
  if (entry === '*') return () => true;
  const network = parseNetwork(entry);
  if (network) {
    return (host) => {
      const address = parseAddress(plainHost(host));
      return address !== null && isInNetwork(address, network);
    };
  }
  const ofSubdomains = /^\*?\.(.+)$/.exec(entry)?.[1];
  if (ofSubdomains !== undefined && !ofSubdomains.includes('*')) {
    return parseName(ofSubdomains, { subdomains: true, itself: subdomains });
  }
  if (entry.includes('*')) return parsePattern(entry);
  return parseName(entry, { subdomains, itself: true });
}

/** In lower case, without brackets and without a final dot. */
function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(.)\.$/, '$1');
}

/** Names of other scripts are compared in the form in which they are resolved (`xn--…`). */
function parseName(text: string, { subdomains, itself }: { subdomains: boolean; itself: boolean }): HostRule | null {
  if (!pattern.test(text) || text.includes(':')) return null;
  const name = plainHost(URL.parse(`http://${text}`)?.hostname ?? '');
  // The URL parser completes addresses such as `10.0.0`, which nobody means as an entry, nor `10.0.0.0-16` as a name.
  if (name === '' || parseAddress(name) || (/^[\d.-]+$/.test(name) && name.includes('.'))) return null;
  return (host) => {
    const plain = plainHost(host);
    return (itself && plain === name) || (subdomains && plain.endsWith(`.${name}`));
  };
}

/**
 * `*` stands for any characters: `10.*`, `build-*.example.com`, `fe80:*`. A pattern of addresses matches no name, since
 * anyone can own one such as `10.example`.
 */
function parsePattern(entry: string): HostRule | null {
  if (!pattern.test(entry)) return null;
  const matches = globOf(plainHost(entry));
  const isOfAddresses = /^[\d.*]+$|:/.test(entry);
  return (host) => {
    const plain = plainHost(host);
    return matches(plain) && (!isOfAddresses || parseAddress(plain) !== null);
  };
}

/** A matcher of texts in which `*` stands for any characters. Takes linear time for each `*`. */
export function globOf(glob: string): (text: string) => boolean {
  const [first = '', ...others] = glob.split('*');
  const last = others.pop();
  if (last === undefined) return (text) => text === glob;
  return (text) => {
    if (!text.startsWith(first)) return false;
    let position = first.length;
    for (const part of others) {
      const found = text.indexOf(part, position);
      if (found < 0) return false;
      position = found + part.length;
    }
    return text.length - last.length >= position && text.endsWith(last);
  };
}
