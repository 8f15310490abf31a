/** The address of a client that may be behind proxies. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isInNetwork, type Network, parseAddress, parseNetwork } from '../contract/host-rule.ts';

/** Proxies whose X-Forwarded-For is trusted. Anyone else could forge it. */
export class TrustedProxies {
  readonly #proxies: readonly Network[];

  /** Takes addresses and networks, such as `10.0.0.0/8`. Throws an Error that names an entry that is neither. */
  constructor(proxies: readonly string[]) {
    this.#proxies = proxies.map(networkOf);
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

  #trusts(client: string): boolean {
    const address = parseAddress(client);
    return address !== null && this.#proxies.some((network) => isInNetwork(address, network));
  }
}

function networkOf(proxy: string): Network {
  const network = parseNetwork(proxy);
  if (network) return network;
  throw new Error(`"${proxy}" is neither an IP address nor a network such as 10.0.0.0/8`);
}

/** Long enough for any chain of proxies. */
const maxHeaderLength = 1_000;

const mappedPrefix = '::ffff:';

/** Undoes the IPv4-mapped form (`::ffff:10.0.0.1`) in which a dual-stack socket reports an IPv4 address. */
function plainAddress(address: string): string {
  const isMapped = address.toLowerCase().startsWith(mappedPrefix) && address.includes('.');
  return isMapped ? address.slice(mappedPrefix.length) : address;
}
