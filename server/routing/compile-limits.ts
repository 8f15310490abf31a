import type { GroupConfig, KeyConfig } from '../contract/config.ts';
import type { Limits } from '../contract/limit-settings.ts';
import type { CountedScope, Limited } from '../contract/limits.ts';
import type { PeopleSettings } from '../contract/people.ts';

/** Null if nothing is limited. */
export function compileLimits<Scope extends CountedScope>(
  scope: Scope,
  config: KeyConfig | GroupConfig,
): (Limited & { scope: Scope }) | null {
  const { id, name, limits } = config;
  if (!limits || !isLimiting(limits)) return null;
  const sinceMs = 'createdAt' in config && config.createdAt ? Date.parse(config.createdAt) : 0;
  const groupId = 'group' in config ? config.group : id;
  return { scope, id, groupId, name: name ?? id, limits, sinceMs };
}

function isLimiting({ budgets, ...rates }: Limits): boolean {
  return budgets.length > 0 || Object.values(rates).some((rate) => rate !== undefined);
}

/** The limits of people over all of their keys. */
export interface PersonLimits {
  /** Differs when any of them do. */
  readonly text: string;
  /** Null if nothing is limited. */
  of(personId: string): Limited | null;
}

const noLimits: PersonLimits = { text: '', of: () => null };
let latest = noLimits;
const known = new WeakMap<PeopleSettings, PersonLimits>();

/** Compiled again only when they have changed, since the keys of all people refer to them. */
export function compilePersonLimits(people: PeopleSettings | null): PersonLimits {
  if (people === null) return noLimits;
  const limits = known.get(people) ?? compileFor(people);
  known.set(people, limits);
  return limits;
}

function compileFor({ personLimits, personLimitsOf }: PeopleSettings): PersonLimits {
  if (personLimits === undefined && personLimitsOf.length === 0) return noLimits;
  const text = JSON.stringify([personLimits, personLimitsOf]);
  if (latest.text === text) return latest;
  const own = new Map(personLimitsOf.map(({ person, limits }) => [person, limits]));
  const compiled = new Map<string, Limited | null>();
  latest = {
    text,
    of(id) {
      let limited = compiled.get(id);
      if (limited === undefined) {
        const limits = own.get(id) ?? personLimits;
        const isLimited = limits !== undefined && isLimiting(limits);
        limited = isLimited ? { scope: 'person', id, groupId: null, name: id, limits, sinceMs: 0 } : null;
        compiled.set(id, limited);
      }
      return limited;
    },
  };
  return latest;
}
