import { InvalidArgumentError } from 'commander';
import { TrustedProxies } from '../http/client-address.ts';

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** The origin that browsers use to reach Sluice. It must be https, or http on this machine for trials. */
export function parsePublicUrl(text: string): string {
  const url = URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback.test(url.hostname));
  if (!url || !isSafe) {
    throw new InvalidArgumentError('use an address that begins with https://, where the load balancer ends TLS');
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new InvalidArgumentError('use the address of a site without a path: https://gateway.example');
  }
  return url.origin;
}

/** An address, or a network such as `10.0.0.0/8`. Repeatable. */
export function parseTrustedProxy(text: string, before: string[] = []): string[] {
  try {
    new TrustedProxies([text]);
  } catch {
    throw new InvalidArgumentError('use an IP address, or a network such as 10.0.0.0/8');
  }
  return [...before, text];
}
