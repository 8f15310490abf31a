/** Options of `serve`: ports, public addresses, and the times of a shutdown. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { TrustedProxies } from '../http/client-address.ts';
import type { ShutdownTimes } from './graceful-shutdown.ts';

/** Parser for an option. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a number from 0 to 65535.');
}

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

export interface ShutdownFlags {
  gracePeriod: number;
  shutdownDelay: number;
}

/** Options for the start and the end of `serve`. Those of its end have Caddy's names. */
export function addShutdownOptions(command: Command): Command {
  return command
    .addOption(seconds('--grace-period', 'how long running requests may last after SIGTERM', 10))
    .addOption(seconds('--shutdown-delay', 'how long to keep serving after SIGTERM while /readyz answers 503', 0));
}

export function storeTimeoutOption(): Option {
  return seconds('--store-timeout', 'how long the start waits for a database that cannot be used yet', 60);
}

function seconds(flag: string, description: string, preset: number): Option {
  return new Option(`${flag} <seconds>`, description).argParser(parseSeconds).default(preset);
}

export function readShutdownTimes({ gracePeriod, shutdownDelay }: ShutdownFlags): ShutdownTimes {
  return { gracePeriodMs: gracePeriod * 1000, shutdownDelayMs: shutdownDelay * 1000 };
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds >= 0 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('Use a number of seconds from 0 to 86400.');
}
