import { InvalidArgumentError } from 'commander';
import type { GroupConfig } from '../contract/config.ts';
import { megabyte } from '../contract/units.ts';

export const cacheHelp = 'ttl=1h,size=64,coalesce,forced';

const secondsOf = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Settings that are not given have their defaults. */
export type CacheChoice = Partial<NonNullable<GroupConfig['cache']>> | 'off';

/**
 * The option `--cache`: `on`, `off`, or settings such as `ttl=1h,size=64` (in MB). Never null, which Commander takes for
 * a missing value.
 * @throws InvalidArgumentError
 */
export function parseCache(text: string): CacheChoice {
  if (text === 'off') return 'off';
  if (text === 'on') return {};
  return Object.assign({}, ...text.split(',').map(settingOf));
}

function settingOf(text: string): Partial<NonNullable<GroupConfig['cache']>> {
  if (text === 'coalesce' || text === 'forced') return { [text]: true };
  const [, count, unit = 's'] = /^ttl=(\d{1,9})([smhd])?$/.exec(text) ?? [];
  if (count) return { ttlSeconds: Number(count) * secondsOf[unit as keyof typeof secondsOf] };
  const [, size] = /^size=(\d{1,6})$/.exec(text) ?? [];
  if (size) return { maxBytes: Number(size) * megabyte };
  throw new InvalidArgumentError(`Use "on", "off", or some of ${cacheHelp} (ttl in s, m, h or d; size in MB).`);
}
