/** Options for the start and the end of `serve`. Those of its end have Caddy's names. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ShutdownTimes } from './graceful-shutdown.ts';

export interface ShutdownFlags {
  gracePeriod: number;
  shutdownDelay: number;
}

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
