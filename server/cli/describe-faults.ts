import type { TimedFaultsView } from '../contract/faults.ts';
import { localTime } from './shown.ts';

/** Example: Faults: profile rough for key "k1" until 13:05 (seed 7). */
export function describeFaults({ kind, id, profile, rules, seed, untilMs }: TimedFaultsView): string {
  const description = profile === null ? rules.join(', ') : `profile ${profile}`;
  return `Faults:     ${description} for ${kind} "${id}" until ${localTime(untilMs).slice(11, 16)} (seed ${seed})`;
}
