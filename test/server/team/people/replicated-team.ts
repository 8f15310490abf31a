/** Replicas of one database behind one public address, at which people of two groups sign in. */
import type { ConfigInput } from '../../../../server/contract/config.ts';
import type { RoleMapping } from '../../../../server/contract/people.ts';
import { personIdOf } from '../../../../server/team/people/people-service.ts';
import { connectValkey, openReplicaLimits } from '../../../../server/team/valkey/open-replica-limits.ts';
import type { TestGateway } from '../../../support/gateway.ts';
import {
  clientId,
  clientSecret,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../../../support/identity-provider.ts';
import { freePort } from '../../../support/ports.ts';
import { startReplica } from '../../../support/replica.ts';
import { marker } from './planted-team.ts';
import { cookieIn } from './signed-in.ts';

/** The credential of a control plane call: none, a session cookie, or an API token. */
export interface Shown {
  cookie?: string;
  token?: string;
}

export interface ReplicatedTeam {
  replicas: TestGateway[];
  /** Signs in at the first replica. Resolves with the cookie, which is valid at all of them. */
  signIn(person: string): Promise<string>;
  /** Calls this replica as the window or a program does. */
  call(replica: number, path: string, who: Shown, body?: object): Promise<Response>;
  /** Resolves with the result of a command or query. Rejects if it is refused. */
  ask(replica: number, who: Shown, asked: { type: string }): Promise<unknown>;
  stop(): Promise<void>;
}

const roles: RoleMapping[] = [
  { claim: 'admins', role: 'admin' },
  { claim: 'leads', role: 'manager', groups: ['ours'] },
  { claim: 'devs', role: 'member', groups: ['ours'] },
  { claim: `${marker}s`, role: 'manager', groups: [marker] },
];

interface Options {
  /** URL of an empty database. */
  url: string;
  count: number;
  /** Of the counter that they share; absent: each counts for itself. */
  counter?: string;
  /** `personId` returns the id of a person by name. */
  config(personId: (name: string) => string): Omit<ConfigInput, 'version'>;
}

/** Ada is an administrator, Mo a manager and Mia a member of `ours`; another person manages the other group. */
export async function startReplicatedTeam({ url, count, counter, config }: Options): Promise<ReplicatedTeam> {
  // The identity provider must know the address before the first replica listens there.
  const port = await freePort();
  const publicOrigin = `http://127.0.0.1:${port}`;
  const identity = await startIdentityProvider(`${publicOrigin}/control/signed-in`);
  identity.groups
    .set('ada', ['admins'])
    .set('mo', ['leads'])
    .set('mia', ['devs'])
    .set(`${marker}-boss`, [`${marker}s`]);
  const people = { issuer: identity.issuer, clientId, clientSecret: 'env:CLIENT_SECRET', roles };
  const given = config((name) => personIdOf(identity.issuer, name));
  const initial: ConfigInput = { version: 1, ...given, settings: { ...given.settings, people } };
  const replicas: TestGateway[] = [];
  for (let index = 0; index < count; index++) {
    const ports: Parameters<typeof startReplica>[0]['ports'] = (store) => ({
      openSecrets: store.openSecrets,
      ...(counter !== undefined && {
        openReplicaLimits: async (options: Parameters<typeof openReplicaLimits>[1]) =>
          openReplicaLimits(await connectValkey(counter), options),
      }),
      env: { CLIENT_SECRET: clientSecret },
      people: { publicOrigin, trustedProxies: [], openStore: store.openPeople },
      listen: { host: '127.0.0.1', port: index === 0 ? port : 0 },
    });
    replicas.push(await startReplica({ url, initial, ports }));
  }
  const call = callerOf(replicas, publicOrigin);
  return {
    replicas,
    signIn: (person) => signIn(identity, publicOrigin, person),
    call,
    async ask(replica, who, asked) {
      const isCommand = asked.type.includes('.');
      const response = await call(replica, isCommand ? '/execute' : '/query', who, asked);
      const { result, error } = await response.json();
      if (!response.ok) throw new Error(`${asked.type}: ${JSON.stringify(error)}`);
      return result;
    },
    async stop() {
      for (const replica of replicas) await replica.stop();
      await identity.stop();
    },
  };
}

function callerOf(replicas: readonly TestGateway[], publicOrigin: string): ReplicatedTeam['call'] {
  return (replica, path, { cookie, token }, body) =>
    fetch(`${replicas[replica]?.origin}/control${path}`, {
      redirect: 'manual',
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        'content-type': 'application/json',
        ...(cookie !== undefined && { cookie, origin: publicOrigin, 'sec-fetch-site': 'same-origin' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    });
}

async function signIn(identity: TestIdentityProvider, publicOrigin: string, person: string): Promise<string> {
  const begun = await fetch(`${publicOrigin}/control/sign-in`, { redirect: 'manual' });
  const back = await identity.signIn(begun.headers.get('location') ?? '', person);
  return cookieIn(await fetch(back, { redirect: 'manual', headers: { cookie: cookieIn(begun) } }));
}
