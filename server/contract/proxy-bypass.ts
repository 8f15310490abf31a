/** Hosts that are reached without a proxy: the entries of NO_PROXY and of the setting `noProxy`. Pure. */
import { type HostRule, parseHostRule } from './host-rule.ts';
import { parseNetwork } from './ip-network.ts';

export interface BypassRule {
  matches: HostRule;
  /** Undefined: any port. */
  port: string | undefined;
}

/**
 * As curl, Go and Python's requests read them together: names with their subdomains, addresses, networks, patterns such
 * as `10.*`, each optionally with a port. Null if the entry can match nothing.
 */
export function parseBypass(entry: string): BypassRule | null {
  const { host, port } = splitPort(entry);
  const matches = parseHostRule(host, { subdomains: true });
  return matches && { matches, port };
}

/** The entries of a list as in NO_PROXY. */
export function bypassEntries(list: string): string[] {
  return list.split(/[\s,]+/).filter((entry) => entry !== '');
}

/** An IPv6 address has a port only behind brackets: `[fd00::1]:8080`. */
function splitPort(entry: string): { host: string; port: string | undefined } {
  if (parseNetwork(entry)) return { host: entry, port: undefined };
  const [, bracketed, bits = '', portOfBracketed] = /^\[([^\]]*)\](\/\d+)?(?::(\d+))?$/.exec(entry) ?? [];
  if (bracketed !== undefined) return { host: bracketed + bits, port: portOfBracketed };
  const [, host, port] = /^([^:]*):(\d{1,5})$/.exec(entry) ?? [];
  return host === undefined ? { host: entry, port: undefined } : { host, port };
}
