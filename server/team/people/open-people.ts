/** Opens the sign-in of people. Imported only with `--public-url`. */
import { join } from 'node:path';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import { resolveSecret } from '../../secrets/resolve-secret.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import type { PeopleStore } from '../../store/ports/people-store.ts';
import { openPeopleStore } from '../../store/sqlite/people-store.ts';
import { PeopleService } from './people-service.ts';

interface PeoplePorts {
  /** Null to store in memory, for tests. */
  dataDir: string | null;
  /** Default: in the data folder. */
  openStore?: (() => MaybePromise<PeopleStore>) | undefined;
  env: Readonly<Record<string, string | undefined>>;
  openSecrets(): Promise<SecretStore>;
  fetch: ConstructorParameters<typeof PeopleService>[0]['fetch'];
  settings: ConstructorParameters<typeof PeopleService>[0]['settings'];
  log: ConstructorParameters<typeof PeopleService>[0]['log'];
}

export async function openPeople(ports: PeoplePorts): Promise<PeopleService> {
  const { dataDir, env, openSecrets, fetch, settings, log } = ports;
  const openLocal = () => openPeopleStore(dataDir === null ? ':memory:' : join(dataDir, 'people.sqlite'));
  return new PeopleService({
    store: await (ports.openStore ?? openLocal)(),
    fetch,
    settings,
    clientSecret: async (reference) =>
      resolveSecret(reference, {
        name: 'people/client',
        store: { get: async (name) => (await openSecrets()).get(name) },
        env,
      }),
    nowMs: Date.now,
    log,
  });
}
