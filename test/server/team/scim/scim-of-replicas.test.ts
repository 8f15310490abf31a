/** What an identity provider pushes by SCIM to one of several replicas counts at all of them, and so does its token. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PersonView } from '../../../../server/contract/people-views.ts';
import { begun, eventually } from '../../../support/eventually.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { type ReplicatedTeam, startReplicatedTeam } from '../people/replicated-team.ts';
import { patch, scimClientOf } from './scim-client.ts';

let token: string;

describe.runIf(hasPostgres())('of two replicas', () => {
  const server = startPostgresInSuite();
  let replicas: ReplicatedTeam;
  beforeAll(async () => {
    const config = () => ({ groups: [{ id: 'ours' }], keys: [] });
    replicas = await startReplicatedTeam({ url: await server.createDatabase(), count: 2, config });
  });
  afterAll(() => replicas?.stop());

  test('both admit the same token, and what is pushed to one ends access at the other', async () => {
    const [one, other] = [0, 1].map((index) =>
      scimClientOf(
        () => replicas.replicas[index]?.origin ?? '',
        () => token,
      ),
    );
    if (!one || !other) throw new Error('there are two');
    const ada = { cookie: await replicas.signIn('ada') };
    const rotate = async (index: number) =>
      ((await replicas.ask(index, ada, { type: 'scim.token' })) as { secret: string }).secret;
    token = await rotate(0);
    const { body: user } = await other('POST', '/Users', { userName: 'mia', externalId: 'mia' });
    const { body: group } = await one('POST', '/Groups', { displayName: 'leads' });
    await Promise.all(
      [one, other].map((send, index) =>
        send(
          'PATCH',
          `/Users/${user.id}`,
          patch({ op: 'add', path: index === 0 ? 'displayName' : 'title', value: 'Mia' }),
        ),
      ),
    );
    expect((await other('GET', `/Users/${user.id}`)).body.displayName).toBe('Mia');
    await other('PATCH', `/Groups/${group.id}`, patch({ op: 'add', path: 'members', value: [{ value: user.id }] }));
    const mia = { cookie: await replicas.signIn('mia') };
    const { person } = (await replicas.ask(1, mia, { type: 'who-am-i' })) as { person: PersonView };
    expect(person).toMatchObject({ isAdmin: false, manages: ['ours'], memberOf: ['ours'] });
    const { secret } = (await replicas.ask(0, mia, {
      type: 'key.create',
      ...{ group: 'ours', own: true, keepSecret: false },
    })) as { secret: string };
    const models = () =>
      Promise.all(
        replicas.replicas.map(async ({ baseUrl }) => {
          return (await fetch(`${baseUrl}/models`, { headers: { authorization: `Bearer ${secret}` } })).status;
        }),
      );
    await eventually(async () => (await models()).every((status) => status === 200));
    const streams = await Promise.all([0, 1].map((index) => replicas.call(index, '/events', mia)));
    const ended = begun(Promise.all(streams.map((stream) => stream.text())));
    await one('PATCH', `/Users/${user.id}`, patch({ op: 'Replace', path: 'active', value: 'False' }));
    await ended;
    await eventually(async () => (await models()).every((status) => status === 401));
    const statuses = await Promise.all(
      [0, 1].map(async (index) => (await replicas.call(index, '/query', mia, { type: 'who-am-i' })).status),
    );
    expect(statuses).toEqual([401, 401]);
    const before = token;
    const now = await rotate(1);
    expect([(await one('GET', '/Users')).status, (await other('GET', '/Users')).status]).toEqual([401, 401]);
    token = now;
    expect([before === now, (await one('GET', '/Users')).status]).toEqual([false, 200]);
  });
});
