/**
 * Checks entries of list settings when they are entered, by the rules that apply them. The schema does not check them:
 * existing configurations must keep working, and `unusableEntries` finds theirs.
 */
import { parseHostRule } from './host-rule.ts';
import { parseOriginRule } from './origin-rule.ts';
import { parseBypass } from './proxy-bypass.ts';

/** Per setting: whether an entry can be used. */
export const entryChecks = {
  /** As in the header Host, without the port. */
  allowedHosts: (entry: string) => parseHostRule(entry, { subdomains: false }) !== null,
  allowedOrigins: (entry: string) => parseOriginRule(entry) !== null,
  /** An entry may be several with commas, as in NO_PROXY. */
  noProxy: (entry: string) => entry.split(',').every((each) => parseBypass(each) !== null),
};

const advice: Record<keyof typeof entryChecks, string> = {
  allowedHosts: 'is not a host name; leave out the scheme and the port',
  allowedOrigins:
    'is not an origin of one site; write it as browsers do, such as https://app.example, http://localhost:* or chrome-extension://*',
  noProxy: 'is not a host; use a name, an IP address, a range such as 10.0.0.0/8 or a pattern such as 10.*',
};

const names = ['allowedHosts', 'allowedOrigins', 'noProxy'] as const;

type Entries = Partial<Record<keyof typeof entryChecks, readonly string[] | undefined>>;

/** A message that names the first unusable entry and what to write instead; null if all can be used. */
export function unusableEntry(entries: Entries): string | null {
  return unusableEntries(entries)[0] ?? null;
}

/** A message for each entry that has no effect. */
export function unusableEntries(entries: Entries): string[] {
  return names.flatMap((name) =>
    (entries[name] ?? [])
      .filter((entry) => !entryChecks[name](entry))
      .map((entry) => `${name}: "${entry}" ${advice[name]}`),
  );
}
