import type { NetworkView } from '../../contract/status-views.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import type { Authorities } from '../../transport/authorities.ts';
import type { ProxySettings } from '../../transport/proxy-choice.ts';
import type { Transport } from '../../transport/transport.ts';

interface NetworkPorts {
  transport: Pick<Transport, 'chainTo'>;
  authorities: Pick<Authorities, 'view'>;
  proxies: ProxySettings;
}

/**
 * How each provider is reached now, and the trusted certificate authorities. User names and passwords of proxies are
 * omitted.
 */
export async function viewNetwork(
  { transport, authorities, proxies }: NetworkPorts,
  { providers }: Snapshot,
): Promise<NetworkView> {
  const ways = [...providers.values()].map(async ({ id, name, endpoint, proxy }) => {
    const { by, hops, unusable } = await transport.chainTo(endpoint.origin, proxy);
    return { provider: id, name, by, proxies: hops.map((hop) => hop?.host ?? null), unusable: [...unusable] };
  });
  return {
    ways: await Promise.all(ways),
    asksSystem: proxies.askSystem !== undefined,
    noProxy: proxies.noProxy ?? null,
    authorities: await authorities.view(),
  };
}
