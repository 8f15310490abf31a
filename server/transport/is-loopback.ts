import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether the hostname of a URL, as `URL` writes it, is this machine's own in any spelling. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const version = isIP(name);
  // A block list takes IPv4 addresses within IPv6 (`::ffff:127.0.0.1`) for what they are.
  if (version !== 0) return loopback.check(name, version === 6 ? 'ipv6' : 'ipv4');
  return name === 'localhost' || name.endsWith('.localhost');
}
