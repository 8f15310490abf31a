/** Opens the sign-in of people if it is configured; otherwise imports nothing of it. */
import type { LiveConfig } from '../control/live/live-config.ts';
import type { PeopleAccess } from '../http/people-access.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import type { AuditChange } from '../team/people/audit-change.ts';
import { createFetch } from '../transport/fetch.ts';
import type { Transport } from '../transport/transport.ts';
import type { GatewayPorts } from './ports.ts';

/** Null if people do not sign in. Rejects with an Error that names a proxy that is not an address. */
export async function openPeopleSide(
  { people, dataDir, env, log }: GatewayPorts,
  live: LiveConfig,
  { openSecrets, transport }: { openSecrets: () => Promise<SecretStore>; transport: Transport },
) {
  if (!people) return null;
  const [{ openPeople }, { createSignInRoutes }, { TrustedProxies }, { createAuditChange }] = await Promise.all([
    import('../team/people/open-people.ts'),
    import('../http/sign-in-routes.ts'),
    import('../http/client-address.ts'),
    import('../team/people/audit-change.ts'),
  ]);
  const proxies = new TrustedProxies(people.trustedProxies);
  const { openStore } = people;
  const settings = () => live.snapshot.settings.people;
  const service = await openPeople({
    dataDir,
    openStore,
    env,
    openSecrets,
    log,
    settings,
    fetch: createFetch(transport),
  });
  const access: PeopleAccess = { service, proxies, publicOrigin: people.publicOrigin };
  const audit: AuditChange = createAuditChange({ store: service.store, nowMs: Date.now, log });
  return { access, audit, signIn: createSignInRoutes(access) };
}
