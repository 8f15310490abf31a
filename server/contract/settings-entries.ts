/**
 * Checks entries of list settings when they are entered. The schema does not check them: existing configurations must
 * keep working, and an entry that matches nothing does no harm.
 */

/** A host as in the header Host, without the port. */
const hostName = /^(?:\*|[a-z0-9._-]+|\[[0-9a-f:.]+\])$/i;
/**
 * An origin as browsers write it in the header Origin: nothing after the port. Extensions and web views have their own
 * schemes.
 */
const origin = /^(?:null|[a-z][a-z0-9+.-]*:\/\/[^\s/?#A-Z]+)$/;
/** Names, addresses and ranges, optionally with a port, as in NO_PROXY. */
const proxyBypass = /^[\w.*:,[\]-]+(?:\/\d{1,3})?$/;

/** Per setting: whether an entry can be used. */
export const entryChecks = {
  allowedHosts: (entry: string) => hostName.test(entry),
  allowedOrigins: (entry: string) => origin.test(entry),
  noProxy: (entry: string) => proxyBypass.test(entry),
};

const advice: Record<keyof typeof entryChecks, string> = {
  allowedHosts: 'is not a host name; leave out the scheme and the port',
  allowedOrigins: 'is not an origin; write it as browsers do, such as https://app.example',
  noProxy: 'is not a host; use a name, an IP address or a range such as 10.0.0.0/8',
};

const names = ['allowedHosts', 'allowedOrigins', 'noProxy'] as const;

/** A message that names the first unusable entry and what to write instead; null if all can be used. */
export function unusableEntry(changes: Partial<Record<keyof typeof entryChecks, readonly string[] | undefined>>) {
  for (const name of names) {
    const invalidEntry = changes[name]?.find((entry) => !entryChecks[name](entry));
    if (invalidEntry !== undefined) return `${name}: "${invalidEntry}" ${advice[name]}`;
  }
  return null;
}
