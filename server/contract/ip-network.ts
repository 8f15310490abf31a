/** IP addresses and networks as text. Pure, so that window and engine read them alike. */

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

/** Null if it is not an address; IPv6 with or without brackets, without a zone. */
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
