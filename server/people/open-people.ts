/** Opens what lets people in. Imported only with `--public-url`. */
import { join } from 'node:path';
import { resolveSecret } from '../secrets/resolve-secret.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import { PeopleDesk } from './people-desk.ts';
import { openPeopleStore } from './sqlite-people-store.ts';

interface PeoplePorts {
  /** Null: in memory, for tests. */
  dataDir: string | null;
  env: Readonly<Record<string, string | undefined>>;
  openSecrets(): Promise<SecretStore>;
  settings: ConstructorParameters<typeof PeopleDesk>[0]['settings'];
  log: ConstructorParameters<typeof PeopleDesk>[0]['log'];
}

export function openPeople({ dataDir, env, openSecrets, settings, log }: PeoplePorts): PeopleDesk {
  return new PeopleDesk({
    store: openPeopleStore(dataDir === null ? ':memory:' : join(dataDir, 'people.sqlite')),
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
