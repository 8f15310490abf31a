/** From which hosts and web pages requests are accepted, compiled from the settings. Pure. */
import { parseHostRule, parseOriginRule } from '../contract/host-rule.ts';
import type { Settings } from '../contract/settings.ts';

export interface SourceRules {
  /** `name`: the header Host without the port. Loopback names are accepted anyway. */
  allowsHost(name: string): boolean;
  /** Sluice's own pages are accepted anyway. */
  allowsOrigin(origin: string): boolean;
  /** As browsers see Sluice: `https://gateway.example`; null without a public address. */
  publicOrigin: string | null;
}

export function compileSourceRules(
  { allowedHosts, allowedOrigins }: Pick<Settings, 'allowedHosts' | 'allowedOrigins'>,
  publicOrigin: string | null,
): SourceRules {
  const hosts = allowedHosts
    .map((entry) => parseHostRule(entry, { subdomains: false }))
    .filter((rule) => rule !== null);
  const origins = allowedOrigins.map(parseOriginRule).filter((rule) => rule !== null);
  const publicHost = publicOrigin === null ? null : new URL(publicOrigin).hostname;
  return {
    allowsHost: (name) => name === publicHost || hosts.some((matches) => matches(name)),
    allowsOrigin: (origin) => origin === publicOrigin || origins.some((matches) => matches(origin)),
    publicOrigin,
  };
}

/** Accepts loopback names and no web pages but Sluice's own. */
export const loopbackOnly: SourceRules = compileSourceRules({ allowedHosts: [], allowedOrigins: [] }, null);
