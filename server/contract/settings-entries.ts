/**
 * What an entry of a setting can be. Checked when it is entered, not in the schema: a configuration that exists goes on working,
 * an entry that matches nothing harms nobody.
 */

/** As the header Host has it, without the port. */
const hostName = /^(?:\*|[a-z0-9._-]+|\[[0-9a-f:.]+\])$/i;
/** As browsers write the header Origin: nothing after the port. Extensions and web views have schemes of their own. */
const origin = /^(?:null|[a-z][a-z0-9+.-]*:\/\/[^\s/?#A-Z]+)$/;
/** Names, addresses and ranges, with a port if need be, as NO_PROXY has them. */
const proxyBypass = /^[\w.*:,[\]-]+(?:\/\d{1,3})?$/;

/** By setting: whether an entry can be used. */
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

/** Names an unusable entry, and what to write instead; null if all are usable. */
export function unusableEntry(changes: Partial<Record<keyof typeof entryChecks, readonly string[] | undefined>>) {
  for (const name of names) {
    const wrong = changes[name]?.find((entry) => !entryChecks[name](entry));
    if (wrong !== undefined) return `${name}: "${wrong}" ${advice[name]}`;
  }
  return null;
}
