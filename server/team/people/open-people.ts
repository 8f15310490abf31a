/** Opens the sign-in of people. Imported only with `--public-url`. */
import { join } from 'node:path';
import type { PeoplePorts, PeopleSide } from '../../engine/team.ts';
import { TrustedProxies } from '../../http/client-address.ts';
import { resolveSecret } from '../../secrets/secret-store.ts';
import { openPeopleStore } from '../../store/sqlite/people-store.ts';
import { Provisioning } from '../scim/provisioning.ts';
import { createScimRoutes } from '../scim/scim-routes.ts';
import { createAuditChange, createAuditReading } from './audit.ts';
import { createPeople } from './create-people.ts';
import type { PeopleAccess } from './people-access.ts';
import { checkPerson } from './people-guard.ts';
import { PeopleService } from './people-service.ts';
import { SignInLimit } from './sign-in-limit.ts';
import { createSignInRoutes } from './sign-in-routes.ts';

/** Rejects with an Error that names a proxy that is not an address. */
export async function openPeople(ports: PeoplePorts): Promise<PeopleSide> {
  const { options, adminToken, log } = ports;
  const proxies = new TrustedProxies(options.trustedProxies);
  let left: Leave = async () => [];
  const service = await openService(ports, (id, keys) => left(id, keys));
  const audit = { store: service.store, nowMs: Date.now, log };
  const access: PeopleAccess = { service, proxies, publicOrigin: options.publicOrigin };
  const provisioning = new Provisioning({
    ...{ store: service.store, settings: ports.settings, publicOrigin: options.publicOrigin, nowMs: Date.now, log },
    leave: (person) => service.leave(person),
    endAccess: (personId) => service.end({ personId }),
  });
  const requests = new SignInLimit(Date.now, scimRequestsPerMinute, 'Too many requests. Wait a minute and try again.');
  return {
    people: createPeople({
      service,
      provisioning,
      note: createAuditChange(audit),
      noteReading: createAuditReading(audit),
    }),
    door: {
      signIn: createSignInRoutes(access),
      scim: createScimRoutes({ provisioning, proxies, limit: (address) => requests.count(address), log }),
      admit: (request) => checkPerson(request, access, adminToken),
      watch: (by, refused) => service.watch(by, refused),
    },
    keyOwners: service.store,
    onLeft(leave) {
      left = leave;
    },
    async close() {
      await provisioning.close();
      await service.close();
    },
  };
}

/** At each replica, by address: twice what Microsoft Entra sends at most. */
const scimRequestsPerMinute = 3_000;

type Leave = Parameters<PeopleSide['onLeft']>[0];

async function openService(ports: PeoplePorts, left: Leave): Promise<PeopleService> {
  const { options, dataDir, env, openSecrets, fetch, settings, audited, log } = ports;
  const openLocal = () => openPeopleStore(dataDir === null ? ':memory:' : join(dataDir, 'people.sqlite'));
  const store = await (options.openStore ?? openLocal)();
  return new PeopleService({
    store: {
      ...store,
      async note(entry) {
        await store.note(entry);
        audited(entry);
      },
    },
    fetch,
    settings,
    clientSecret: async (reference) =>
      resolveSecret(reference, {
        name: 'people/client',
        store: { get: async (name) => (await openSecrets()).get(name) },
        env,
      }),
    refreshTokens: openSecrets,
    left,
    nowMs: Date.now,
    log,
  });
}
