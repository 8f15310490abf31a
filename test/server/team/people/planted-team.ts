/** A gateway that two groups share, with requests of both groups, and people in one of them. */
import type { Person } from '../../../../server/contract/people.ts';
import type { Caller } from '../../../../server/control/people/people.ts';
import type { PeopleStore } from '../../../../server/store/ports/people-store.ts';
import { openPeopleStore } from '../../../../server/store/sqlite/people-store.ts';
import { personIdOf } from '../../../../server/team/people/people-service.ts';
import { hashOf } from '../../../support/gateway.ts';
import { type ControlGateway, startControlGateway } from '../../control/control-gateway.ts';

/** Occurs in all names of the other group, and nowhere else. */
export const marker = 'zeppelin';

/** The objects to which commands and queries can refer. */
export interface Names {
  group: string;
  key: string;
  provider: string;
  alias: string;
  request: string;
  session: string;
  /** An API token. */
  token: string;
  person: string;
}

export interface PlantedTeam {
  sluice: ControlGateway;
  /** Names of the other group's objects. */
  theirs: Names;
  /** Names in the group `ours`, with a key that has no owner. */
  ours: Names;
  /** Names for the key `own`. */
  own: Names;
}

/** Names of objects that do not exist, in the same format. */
export const nowhere: Names = {
  group: 'nowhere',
  key: 'nowhere-key',
  provider: 'nowhere-provider',
  alias: 'nowhere-alias',
  request: `req_${'0'.repeat(32)}`,
  session: `ses_${'0'.repeat(16)}`,
  token: `tok_${'0'.repeat(16)}`,
  person: personIdOf('https://id.example', 'nowhere'),
};

export const personOf = (subject: string, rights: Partial<Person> = {}): Person => ({
  id: personIdOf('https://id.example', subject),
  name: subject,
  email: `${subject}@acme.example`,
  isAdmin: false,
  manages: [],
  memberOf: [],
  ...rights,
});

export const signedIn = (person: Person): Caller => ({ person, scopes: null, accessId: 'ses_1', address: null });

export const member = personOf('mia', { memberOf: ['ours'] });
export const manager = personOf('mo', { manages: ['ours'] });
export const admin = personOf('ada', { isAdmin: true });

/** For a gateway whose callers are given to it, without an identity provider. */
export const withSignIn = {
  people: { publicOrigin: 'https://gateway.example', trustedProxies: [], openStore: openStoreOfSignedIn },
};

/** Has the session that `signedIn` names. */
function openStoreOfSignedIn(): PeopleStore {
  const store = openPeopleStore(':memory:');
  const person = { id: 'prs_0', issuer: 'https://id.example', subject: 'anybody', name: 'Anybody', email: null };
  store.keepPerson({ ...person, claimed: [], signedInAt: 0, checkedAt: 0, checkDueAt: null, externalId: null });
  const session = { id: 'ses_1', hash: 'h', personId: person.id, scopes: null, name: null };
  store.open({ ...session, createdAt: 0, expiresAt: Number.MAX_SAFE_INTEGER });
  return store;
}

export async function startPlantedTeam(): Promise<PlantedTeam> {
  const keyOf = (id: string, group: string, owner?: Person) => ({
    ...{ id, name: id, group, hash: hashOf(secretOf(id)) },
    limits: { budgets: [{ unit: 'tokens' as const, amount: 1_000_000, per: 'total' as const }] },
    ...(owner && { owner: owner.id }),
  });
  const sluice = await startControlGateway({
    ports: withSignIn,
    config: {
      settings: { demo: 'on', sessions: 'all' },
      providers: [{ id: `${marker}-provider`, baseUrl: `https://${marker}.example/v1`, models: [`${marker}-model`] }],
      aliases: [{ name: `${marker}-alias`, targets: [{ provider: `${marker}-provider`, model: `${marker}-model` }] }],
      groups: ['ours', marker].map((id) => ({
        ...{ id, capture: true, cache: {}, limits: { concurrent: 100 } },
        providers: id === marker ? ['*'] : ['demo'],
      })),
      keys: [
        keyOf('own', 'ours', member),
        keyOf('service', 'ours'),
        keyOf(`${marker}-key`, marker, personOf(marker)),
        keyOf(`${marker}-service`, marker),
      ],
    },
  });
  await sluice.gateway.execute({ type: 'capture.start', group: marker });
  await sluice.gateway.execute({ type: 'faults.start', group: marker, profile: 'slow', minutes: 10 });
  const [own, ours, theirs] = await Promise.all([
    namesOf(sluice, 'own', 'ours'),
    namesOf(sluice, 'service', 'ours'),
    namesOf(sluice, `${marker}-key`, marker),
  ]);
  return { sluice, own, ours, theirs };
}

export const secretOf = (id: string) => `sk-test-${id}`;

/** Sends a request with the key, and resolves with the names that exist afterwards. */
async function namesOf(sluice: ControlGateway, key: string, group: string): Promise<Names> {
  const response = await sluice.fetch('/chat/completions', {
    method: 'POST',
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: `hello from ${key}` }] }),
    headers: {
      authorization: `Bearer ${secretOf(key)}`,
      'content-type': 'application/json',
      'user-agent': `agent-of-${key}`,
      'x-sluice-session': `session-of-${key}`,
    },
  });
  await response.text();
  const request = response.headers.get('x-sluice-request-id') ?? '';
  const { session } = await sluice.record(request);
  return {
    ...{ group, key, request, session: session?.id ?? '' },
    provider: `${marker}-provider`,
    alias: `${marker}-alias`,
    token: `tok_${'f'.repeat(16)}`,
    person: personOf(marker).id,
  };
}
