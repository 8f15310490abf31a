/** Opens the sign-in of people. Imported only with `--public-url`. */
import { join } from 'node:path';
import { controlError } from '../../contract/control-error.ts';
import type { QueryMap, QueryResults, QueryType } from '../../contract/queries.ts';
import type { Caller, NarrowedQuery, People } from '../../control/people/people.ts';
import type { PeoplePorts, PeopleSide } from '../../engine/team.ts';
import { TrustedProxies } from '../../http/client-address.ts';
import { resolveSecret } from '../../secrets/secret-store.ts';
import { openPeopleStore } from '../../store/sqlite/people-store.ts';
import { Provisioning } from '../scim/provisioning.ts';
import { createScimRoutes } from '../scim/scim-routes.ts';
import { createAuditChange, createAuditReading } from './audit.ts';
import { permit, permitOn } from './may-do.ts';
import { checkPerson, type PeopleAccess } from './people-guard.ts';
import { PeopleService } from './people-service.ts';
import { narrowed, visibleAnswer, visibleEvents } from './read-rules.ts';
import { createSignInRoutes, SignInLimit } from './sign-in-routes.ts';
import { ownOf, visibilityOf, withinOf } from './visibility.ts';

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

// The control plane's port to the people who sign in: rules, API tokens and the audit list.

interface PeopleParts {
  service: Pick<PeopleService, 'createToken' | 'listTokens' | 'listPeople' | 'checkOpen' | 'end' | 'readAudit'>;
  provisioning: Pick<Provisioning, 'createToken' | 'endToken' | 'view'>;
  note: People['note'];
  noteReading: People['noteReading'];
}

function createPeople({ service, provisioning, note, noteReading }: PeopleParts): People {
  const tokens = (by: Caller | undefined): Promise<QueryResults['tokens']> =>
    service.listTokens(!by || by.person.isAdmin ? null : by.person.id);
  return {
    permit,
    async permitOn(config, command, by) {
      permitOn(config, command, by);
      // Whoever revokes their own access has just ended it.
      if (command.type !== 'person.revoke') await service.checkOpen(by);
    },
    narrow,
    within: (person, config) => withinOf(visibilityOf(person, config)),
    listener: visibleEvents,
    note,
    noteReading,
    async createToken(command, by) {
      // The administrator of the machine has the admin token.
      if (!by) throw controlError('forbidden', { code: 'token-without-person' });
      const { id, secret, expiresAt } = await service.createToken(by, command);
      return { id, secret, expiresAt };
    },
    async revokeToken({ id }, by) {
      const ownTokens = await tokens(by);
      if (!ownTokens.some((token) => token.id === id)) throw controlError('not_found', { code: 'no-token', id });
      await service.end({ id });
      return {};
    },
    signOut: async (personId) => ({ ended: await service.end({ personId }) }),
    createScimToken: () => provisioning.createToken(),
    endScim: () => provisioning.endToken(),
    scim: () => provisioning.view(),
    list: () => service.listPeople(),
    tokens,
    audit: ({ before, limit, personId }) => service.readAudit({ before: before ?? null, limit, personId }),
    endBrowserSessions: () => service.end({ browsers: 'all' }),
  };
}

function narrow<T extends QueryType>(
  type: T,
  query: QueryMap[T],
  { by: { person }, config }: Parameters<People['narrow']>[2],
): NarrowedQuery<T> {
  const visibility = visibilityOf(person, config);
  const narrowedQuery = narrowed(type, query, visibility);
  return {
    query: narrowedQuery,
    within: withinOf(visibility),
    own: ownOf(person, config),
    shown: (result) => visibleAnswer(type, { query: narrowedQuery, result }, visibility),
  };
}
