/**
 * Entries of lists of hosts: NO_PROXY, `noProxy` and `allowedHosts`. Whoever accepts an entry and whoever applies it
 * reads it here, so that an accepted entry also matches. Pure.
 */

/** 4 bytes, or 16 for IPv6; an IPv4 address mapped to IPv6 (`::ffff:10.0.0.1`) is the IPv4 address. */
type Address = readonly number[];

/** A network such as `10.0.0.0/8`; a single address is a network of its whole length. */
export interface Network {
  address: Address;
  /** The number of leading bits that its addresses share. */
  prefixLength: number;
}

const ipv4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const mappedBytes = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/**
 * IP addresses and networks as text. Pure, so that window and engine read them alike.
 *
 * Null if it is not an address; IPv6 with or without brackets, without a zone.
 */
export function parseAddress(text: string): Address | null {
  if (ipv4.test(text)) return parseIpv4(text);
  const groups = ipv6Groups(text.replace(/^\[(.*)\]$/, '$1'));
  if (!groups) return null;
  const bytes = groups.flatMap((group) => [group >> 8, group & 0xff]);
  return mappedBytes.every((byte, index) => bytes[index] === byte) ? bytes.slice(mappedBytes.length) : bytes;
}

/** Null if it is neither an address nor `address/bits`. */
export function parseNetwork(text: string): Network | null {
  const [, addressText = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = parseAddress(addressText);
  if (!address) return null;
  const length = address.length * 8;
  // A prefix of a mapped address counts the 96 bits before the IPv4 address.
  const isMapped = address.length === 4 && addressText.includes(':');
  const prefixLength = bits === undefined ? length : Number(bits) - (isMapped ? mappedBytes.length * 8 : 0);
  return prefixLength >= 0 && prefixLength <= length ? { address, prefixLength } : null;
}

export function isInNetwork(address: Address, network: Network): boolean {
  if (address.length !== network.address.length) return false;
  return network.address.every((byte, index) => {
    const unusedBits = Math.min(Math.max((index + 1) * 8 - network.prefixLength, 0), 8);
    return byte >> unusedBits === (address[index] ?? 0) >> unusedBits;
  });
}

/** A leading zero is refused, because programs disagree whether it means octal. */
function parseIpv4(text: string): Address | null {
  const parts = text.split('.');
  return parts.every((part) => String(Number(part)) === part && Number(part) <= 255) ? parts.map(Number) : null;
}

/** The eight groups of an IPv6 address, by the URL parser, which knows all its spellings. */
function ipv6Groups(text: string): number[] | null {
  if (!text.includes(':')) return null;
  const host = URL.parse(`http://[${text}]`)?.hostname;
  if (host === undefined || !host.startsWith('[')) return null;
  const [start = '', end] = host.slice(1, -1).split('::');
  const before = groupsOf(start);
  if (end === undefined) return before;
  const after = groupsOf(end);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

/** `host`: as `URL.hostname` gives it, or with capitals or a final dot. */
type HostRule = (host: string) => boolean;

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
function globOf(glob: string): (text: string) => boolean {
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

type OriginRule = (origin: string) => boolean;

const form = /^([a-z][a-z0-9+.-]*):\/\/([^\s/?#@]+?)(?::(\d{1,5}|\*))?$/i;

/** Pages of these schemes send the origin `null`, or the origin of the page that made them. */
const neverSent: ReadonlySet<string> = new Set(['ws', 'wss', 'data', 'blob', 'about', 'javascript']);

/**
 * Entries of `allowedOrigins`: origins as browsers write them in the header Origin, and patterns of them. Pure.
 *
 * Reads an origin (`https://app.example`), or a pattern in which `*` stands for any port (`http://localhost:*`), for
 * subdomains (`https://*.example.com`) or for the changing name of an extension or web view (`chrome-extension://*`,
 * `vscode-webview://*`). Null if no origin can match, or if pages of any website would.
 */
export function parseOriginRule(entry: string): OriginRule | null {
  if (entry === 'null') return (origin) => origin === 'null';
  const [, scheme = '', host = '', port] = form.exec(entry) ?? [];
  const protocol = scheme.toLowerCase();
  if (protocol === '' || neverSent.has(protocol)) return null;
  const isWeb = protocol === 'http' || protocol === 'https';
  return isWeb ? webRule(protocol, host, port) : otherRule(`${protocol}://${host}`, port);
}

function webRule(protocol: string, host: string, port: string | undefined): OriginRule | null {
  if (!host.includes('*')) {
    const url = URL.parse(`${protocol}://${host}${port === undefined || port === '*' ? '' : `:${port}`}`);
    if (!url) return null;
    return port === '*'
      ? ofHost((name) => name === url.hostname, { protocol, port })
      : (origin) => origin === url.origin;
  }
  const isName = isWebPattern(host);
  return isName ? ofHost(isName, { protocol, port }) : null;
}

/**
 * A `*` at the beginning stands for one or more labels, elsewhere for a part of one. What follows must be a site's own:
 * `*` and `*.com` would admit any website.
 */
function isWebPattern(host: string): ((name: string) => boolean) | null {
  const labels = host.toLowerCase().split('.');
  const [first = '', ...rest] = labels;
  const isOwn = rest.length >= 2 || rest.join('.') === 'localhost';
  if (!isOwn || rest.some((label) => label === '' || label.includes('*'))) return null;
  const suffix = URL.parse(`http://${rest.join('.')}`)?.hostname;
  if (suffix === undefined || !/^[a-z0-9*_-]+$/.test(first)) return null;
  const matches = globOf(first);
  return (name) => {
    if (!name.endsWith(`.${suffix}`)) return false;
    const before = name.slice(0, -suffix.length - 1);
    return first === '*' ? before !== '' : !before.includes('.') && matches(before);
  };
}

function ofHost(
  isHost: (name: string) => boolean,
  { protocol, port }: { protocol: string; port: string | undefined },
): OriginRule {
  const wanted = port === '*' || port === undefined ? port : URL.parse(`${protocol}://any:${port}`)?.port;
  return (origin) => {
    const url = URL.parse(origin);
    if (url?.protocol !== `${protocol}:` || url.origin !== origin || !isHost(url.hostname)) return false;
    return wanted === '*' || url.port === (wanted ?? '');
  };
}

/** Extensions, web views and desktop applications. */
function otherRule(start: string, port: string | undefined): OriginRule {
  const matches = globOf(`${start}${port === undefined ? '' : `:${port}`}`.toLowerCase());
  return (origin) => matches(origin.toLowerCase());
}

export interface BypassRule {
  matches: HostRule;
  /** Undefined: any port. */
  port: string | undefined;
}

/**
 * Hosts that are reached without a proxy: the entries of NO_PROXY and of the setting `noProxy`. Pure.
 *
 * As curl, Go and Python's requests read them together: names with their subdomains, addresses, networks, patterns such
 * as `10.*`, each optionally with a port. Null if the entry can match nothing.
 */
export function parseBypass(entry: string): BypassRule | null {
  const { host, port } = splitPort(entry);
  const matches = parseHostRule(host, { subdomains: true });
  return matches && { matches, port };
}

/** The entries of a list as in NO_PROXY. */
export function bypassEntries(list: string): string[] {
  return list.split(/[\s,]+/).filter((entry) => entry !== '');
}

/** An IPv6 address has a port only behind brackets: `[fd00::1]:8080`. */
function splitPort(entry: string): { host: string; port: string | undefined } {
  if (parseNetwork(entry)) return { host: entry, port: undefined };
  const [, bracketed, bits = '', portOfBracketed] = /^\[([^\]]*)\](\/\d+)?(?::(\d+))?$/.exec(entry) ?? [];
  if (bracketed !== undefined) return { host: bracketed + bits, port: portOfBracketed };
  const [, host, port] = /^([^:]*):(\d{1,5})$/.exec(entry) ?? [];
  return host === undefined ? { host: entry, port: undefined } : { host, port };
}
