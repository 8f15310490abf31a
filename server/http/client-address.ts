/** The address of a client that may be behind proxies. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';

/** Proxies whose X-Forwarded-For is trusted. Anyone else could forge it. */
export class TrustedProxies {
  readonly #proxies = new BlockList();

  /** Takes addresses and networks, such as `10.0.0.0/8`. Throws an Error that names an entry that is neither. */
  constructor(proxies: readonly string[]) {
    for (const proxy of proxies) this.#add(proxy);
  }

  /**
   * Null if the connection is closed. Proxies append to the header, so it is read from its end, up to the first address
   * that is not trusted.
   */
  clientOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string | null {
    const forwarded = headers['x-forwarded-for'];
    const addresses = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? ''))
      .slice(-maxHeaderLength)
      .split(',');
    let address = plainAddress(socket.remoteAddress ?? '');
    for (const next of addresses.reverse()) {
      if (!this.#trusts(address)) break;
      const previous = plainAddress(next.trim());
      if (isIP(previous) === 0) break;
      address = previous;
    }
    return address === '' ? null : address;
  }

  #add(proxy: string): void {
    const [address = '', bits] = proxy.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    const longest = family === 'ipv6' ? 128 : 32;
    const prefix = bits === undefined ? longest : Number.parseInt(bits, 10);
    if (isIP(address) === 0 || !(prefix >= 0 && prefix <= longest)) {
      throw new Error(`"${proxy}" is neither an IP address nor a network such as 10.0.0.0/8`);
    }
    this.#proxies.addSubnet(address, prefix, family);
  }

  #trusts(address: string): boolean {
    return isIP(address) !== 0 && this.#proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  }
}

/** Long enough for any chain of proxies. */
const maxHeaderLength = 1_000;

const mappedPrefix = '::ffff:';

/** Undoes the IPv4-mapped form (`::ffff:10.0.0.1`) in which a dual-stack socket reports an IPv4 address. */
function plainAddress(address: string): string {
  const isMapped = address.toLowerCase().startsWith(mappedPrefix) && address.includes('.');
  return isMapped ? address.slice(mappedPrefix.length) : address;
}
