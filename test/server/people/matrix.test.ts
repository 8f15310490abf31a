/** Every command, query, export and event, given or heard by people of one group, about another group. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CommandInputMap, CommandType } from '../../../server/contract/commands.ts';
import { GatewayError } from '../../../server/contract/errors.ts';
import type { Person } from '../../../server/contract/people.ts';
import type { QueryInputMap, QueryType } from '../../../server/contract/queries.ts';
import { begun } from '../../support/begun.ts';
import {
  admin,
  manager,
  marker,
  member,
  type Names,
  nowhere,
  type PlantedTeam,
  personOf,
  signedIn,
  startPlantedTeam,
} from './planted-team.ts';

let team: PlantedTeam;
beforeAll(async () => {
  team = await startPlantedTeam();
});
afterAll(() => team.sluice.stop());

const day = 86_400_000;
const span = () => ({ sinceMs: Date.now() - day, untilMs: Date.now() + day, stepMs: day });

/** Every query in the ways in which it can name a group, a key or what they have done. */
const queries: { [T in QueryType]: (names: Names) => QueryInputMap[T][] } = {
  status: () => [{ type: 'status' }],
  providers: () => [{ type: 'providers' }],
  presets: () => [{ type: 'presets' }],
  'local-servers': () => [{ type: 'local-servers' }],
  'environment-credentials': () => [{ type: 'environment-credentials' }],
  'provider-test': ({ provider }) => [{ type: 'provider-test', id: provider }],
  keys: () => [{ type: 'keys' }],
  groups: () => [{ type: 'groups' }],
  'group-preview': ({ group }) => [{ type: 'group-preview', group: { id: group } }],
  caches: () => [{ type: 'caches' }],
  cassettes: () => [{ type: 'cassettes' }],
  aliases: () => [{ type: 'aliases' }],
  models: ({ group, key }) => [
    { type: 'models', group },
    { type: 'models', key },
    { type: 'models', group: 'ours', key },
  ],
  prices: () => [{ type: 'prices' }],
  route: ({ group, key, alias }) => [
    { type: 'route', group, model: 'demo-chat' },
    { type: 'route', key, model: 'demo-chat' },
    { type: 'route', group: 'ours', model: alias },
  ],
  requests: ({ group, key }) => [
    { type: 'requests' },
    { type: 'requests', filter: { groupId: group } },
    { type: 'requests', filter: { keyId: key } },
    { type: 'requests', filter: { search: marker } },
    { type: 'requests', sort: { by: 'duration' } },
  ],
  'request-count': ({ group, key }) => [
    { type: 'request-count', filter: { groupId: group } },
    { type: 'request-count', filter: { keyId: key } },
    { type: 'request-count', filter: { search: marker } },
  ],
  'request-names': () => [{ type: 'request-names', of: 'client' }],
  request: ({ request }) => [{ type: 'request', id: request }],
  sessions: ({ group, key }) => [
    { type: 'sessions' },
    { type: 'sessions', filter: { groupId: group } },
    { type: 'sessions', filter: { keyId: key } },
  ],
  session: ({ session }) => [{ type: 'session', id: session }],
  shadows: ({ group }) => [{ type: 'shadows' }, { type: 'shadows', groupId: group }],
  dataset: ({ group }) => [{ type: 'dataset', filter: { groupId: group } }],
  refusals: () => [{ type: 'refusals' }],
  clients: () => [{ type: 'clients' }],
  'connect-clients': () => [{ type: 'connect-clients' }],
  'connect-preview': ({ key }) => [{ type: 'connect-preview', client: 'codex', key, model: 'demo-chat' }],
  'connect-undo-preview': () => [{ type: 'connect-undo-preview', client: 'codex' }],
  usage: () => (['day', 'key', 'group', 'model', 'provider'] as const).map((by) => ({ type: 'usage', by })),
  'usage-over-time': ({ group, key }) => [
    { type: 'usage-over-time', by: 'group', names: [group], ...span() },
    { type: 'usage-over-time', by: 'key', names: [key], ...span() },
    { type: 'usage-over-time', by: 'group', ...span() },
    { type: 'usage-over-time', by: 'day', ...span() },
    { type: 'usage-over-time', by: 'model', ...span() },
    { type: 'usage-over-time', by: 'model', own: true, ...span() },
    { type: 'usage-over-time', by: 'key', names: [key], own: true, ...span() },
  ],
  'first-byte-times': ({ group, key }) => [
    { type: 'first-byte-times', by: 'group', names: [group], ...span() },
    { type: 'first-byte-times', by: 'key', names: [key], ...span() },
    { type: 'first-byte-times', by: 'key', ...span() },
    { type: 'first-byte-times', ...span() },
  ],
  config: () => [{ type: 'config' }],
  'import-preview': () => [{ type: 'import-preview', config: { version: 1 } }],
  'team-preset-preview': () => [
    { type: 'team-preset-preview', preset: { teamPreset: 1, name: 'A', organisation: 'A' } },
  ],
  'who-am-i': () => [{ type: 'who-am-i' }],
  people: () => [{ type: 'people' }],
  tokens: () => [{ type: 'tokens' }],
  audit: () => [{ type: 'audit' }],
  host: () => [{ type: 'host' }],
  network: () => [{ type: 'network' }],
};

/** Every command about another group, or about what all groups share. */
const commands: { [T in CommandType]: (names: Names) => CommandInputMap[T][] } = {
  'provider.add': () => [{ type: 'provider.add', provider: { baseUrl: 'https://more.example/v1' } }],
  'provider.update': ({ provider }) => [{ type: 'provider.update', id: provider, changes: { enabled: false } }],
  'provider.remove': ({ provider }) => [{ type: 'provider.remove', id: provider }],
  'provider.set-enabled': ({ provider }) => [{ type: 'provider.set-enabled', id: provider, enabled: false }],
  'provider.refresh-models': ({ provider }) => [{ type: 'provider.refresh-models', id: provider }],
  'provider.reset-health': ({ provider }) => [{ type: 'provider.reset-health', id: provider }],
  'credential.set': ({ provider }) => [{ type: 'credential.set', provider, secret: 'sk-other' }],
  'credential.remove': ({ provider }) => [{ type: 'credential.remove', provider, id: 'c1' }],
  'key.create': ({ group, key }) => [
    { type: 'key.create', group },
    { type: 'key.create', group, own: true },
    { type: 'key.create', group: 'ours', id: key },
    { type: 'key.create', group: 'ours', cassette: { folder: '/tmp/tapes', mode: 'record' } },
  ],
  'key.update': ({ group, key }) => [
    { type: 'key.update', id: key, changes: { name: 'mine' } },
    { type: 'key.update', id: key, changes: { group: 'ours' } },
    { type: 'key.update', id: 'own', changes: { group } },
  ],
  'key.rotate': ({ key }) => [{ type: 'key.rotate', id: key }],
  'key.revoke': ({ key }) => [{ type: 'key.revoke', id: key }],
  'key.reveal': ({ key }) => [{ type: 'key.reveal', id: key }],
  'capture.start': ({ group, key }) => [
    { type: 'capture.start' },
    { type: 'capture.start', group },
    { type: 'capture.start', key },
  ],
  'capture.stop': ({ group, key }) => [
    { type: 'capture.stop' },
    { type: 'capture.stop', group },
    { type: 'capture.stop', key },
  ],
  'faults.start': ({ group, key }) => [
    { type: 'faults.start', group, rules: ['slow'] },
    { type: 'faults.start', key, rules: ['slow'] },
  ],
  'faults.stop': ({ group, key }) => [
    { type: 'faults.stop' },
    { type: 'faults.stop', group },
    { type: 'faults.stop', key },
  ],
  'token.create': () => [],
  'token.revoke': () => [{ type: 'token.revoke', id: 'tok_0123456789abcdef' }],
  'person.sign-out': () => [{ type: 'person.sign-out', id: personOf(marker).id }],
  'session.stop': ({ session }) => [{ type: 'session.stop', id: session }],
  'session.resume': ({ session }) => [{ type: 'session.resume', id: session }],
  'group.put': ({ group }) => [
    { type: 'group.put', group: { id: group } },
    { type: 'group.put', group: { id: 'ours', limits: { requestsPerMinute: 100_000 } } },
  ],
  'group.remove': ({ group }) => [{ type: 'group.remove', id: group }],
  'cache.clear': ({ group }) => [{ type: 'cache.clear' }, { type: 'cache.clear', group }],
  'cassette.rewind': () => [{ type: 'cassette.rewind' }],
  'alias.put': ({ alias }) => [
    { type: 'alias.put', alias: { name: alias, targets: [{ provider: 'demo', model: 'a' }] } },
  ],
  'alias.remove': ({ alias }) => [{ type: 'alias.remove', name: alias }],
  'settings.update': () => [{ type: 'settings.update', changes: { sessions: 'off' } }],
  'config.import': () => [{ type: 'config.import', config: { version: 1 } }],
  'config.apply': () => [{ type: 'config.apply', preset: { teamPreset: 1, name: 'A', organisation: 'A' } }],
  'team-preset.apply': () => [{ type: 'team-preset.apply', preset: { teamPreset: 1, name: 'A', organisation: 'A' } }],
  'team-preset.leave': () => [{ type: 'team-preset.leave' }],
  'team.join': () => [{ type: 'team.join', url: 'https://gateway.example' }],
  'team.finish-join': () => [{ type: 'team.finish-join', id: '3f333df6-90a4-4fda-8dd3-9485d27cee36' }],
  'team.leave': ({ provider }) => [{ type: 'team.leave', provider }],
  'connect.apply': ({ key }) => [
    { type: 'connect.apply', client: 'codex', key, model: 'demo-chat', fingerprint: 'any' },
  ],
  'connect.undo': () => [{ type: 'connect.undo', client: 'codex', fingerprint: 'any' }],
  'window.create-address': () => [{ type: 'window.create-address' }],
  'window.sign-out-everywhere': () => [{ type: 'window.sign-out-everywhere' }],
};

const people: [string, Person][] = [
  ['a member', member],
  ['a manager', manager],
  ['a person without a group', personOf('nobody')],
];

type Outcome = { result: unknown } | { refused: string; message: string };

async function outcomeOf(work: Promise<unknown>): Promise<Outcome> {
  try {
    return { result: await work };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { refused: error.code, message: error.message };
  }
}

/** With the names of what exists in place of those of what does not. */
function renamed(outcome: Outcome, names: Names): Outcome {
  let text = JSON.stringify(outcome);
  for (const [part, name] of Object.entries(nowhere)) text = text.replaceAll(name, names[part as keyof Names]);
  return JSON.parse(text);
}

/** A result as text, without the names that the query itself gave. */
function withoutAsked(result: unknown, query: object): string {
  const asked = JSON.stringify(query);
  const given = Object.values(team.theirs).filter((name) => asked.includes(name));
  return given.reduce((text, name) => text.replaceAll(name, ''), JSON.stringify(result));
}

describe.each(people)('%s of one group', (_name, person) => {
  const by = signedIn(person);

  test.each(Object.keys(queries) as QueryType[])('learns nothing of another group by the query %s', async (type) => {
    const [asked, control] = [queries[type](team.theirs), queries[type](nowhere)];
    for (const [index, query] of asked.entries()) {
      const outcome = await outcomeOf(team.sluice.gateway.query(query, by));
      if ('result' in outcome) expect(withoutAsked(outcome.result, query)).not.toContain(marker);
      else expect(['not_found', 'forbidden']).toContain(outcome.refused);
      // What is there looks like what is not.
      const absent = await outcomeOf(team.sluice.gateway.query(control[index], by));
      expect(outcome).toEqual(renamed(absent, team.theirs));
    }
  });

  test.each(Object.keys(commands) as CommandType[])('changes nothing of another group by %s', async (type) => {
    const before = await team.sluice.gateway.query({ type: 'config' });
    const [given, control] = [commands[type](team.theirs), commands[type](nowhere)];
    for (const [index, command] of given.entries()) {
      const outcome = await outcomeOf(team.sluice.gateway.execute(command, by));
      expect(outcome).toEqual({
        refused: expect.stringMatching(/^(not_found|forbidden)$/),
        message: expect.any(String),
      });
      const absent = await outcomeOf(team.sluice.gateway.execute(control[index], by));
      expect(outcome).toEqual(renamed(absent, team.theirs));
    }
    expect(await team.sluice.gateway.query({ type: 'config' })).toEqual(before);
  });

  test('hears nothing of another group', async () => {
    const { sluice } = team;
    const heard: string[] = [];
    const done = Promise.withResolvers<void>();
    const stop = sluice.gateway.onEvent((message) => {
      heard.push(JSON.stringify(message));
      // The change that is made last is told last.
      if (message.event.type === 'config-changed' && message.event.keys) done.resolve();
    }, by);
    await sluice.gateway.execute({ type: 'group.put', group: { id: marker, name: `more ${marker}` } });
    await sluice.gateway.execute({ type: 'key.create', group: marker, id: `${marker}-new` });
    await begun(done.promise);
    stop();
    await sluice.gateway.execute({ type: 'key.revoke', id: `${marker}-new` });
    expect(heard.length).toBeGreaterThan(2);
    expect(heard.join('\n')).not.toContain(marker);
    const revisions = heard.map((text) => JSON.parse(text).revision);
    expect(revisions).toEqual(revisions.map((_, index) => revisions[0] + index));
  });
});

describe('people see and do what is theirs', () => {
  const ask = <T extends QueryType>(query: QueryInputMap[T], person: Person) =>
    team.sluice.gateway.query(query, signedIn(person));

  test('a member: own keys, what they were used for, and the own group', async () => {
    expect(await ask({ type: 'keys' }, member)).toMatchObject([{ id: 'own', owner: member.id }]);
    expect(await ask({ type: 'groups' }, member)).toMatchObject([{ id: 'ours' }]);
    const { requests } = (await ask({ type: 'requests' }, member)) as { requests: { keyId: string }[] };
    expect(requests.map(({ keyId }) => keyId)).toEqual(['own']);
    expect(await ask({ type: 'request', id: team.own.request }, member)).toMatchObject({ request: { keyId: 'own' } });
    expect(await ask({ type: 'session', id: team.own.session }, member)).toMatchObject({ session: { keyId: 'own' } });
    expect(await ask({ type: 'usage', by: 'key' }, member)).toMatchObject([{ name: 'own', requests: 1 }]);
    expect(await ask({ type: 'usage', by: 'group' }, member)).toEqual([]);
    const byModel = { type: 'usage-over-time', by: 'model', ...span() } as const;
    const used = [{ name: 'demo-chat', requests: 1 }];
    expect(await ask(byModel, member)).toMatchObject(used);
    expect(await ask({ ...byModel, own: true }, member)).toMatchObject(used);
    await expect(ask({ type: 'request', id: team.ours.request }, member)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a manager: all keys and requests of the group', async () => {
    expect(await ask({ type: 'keys' }, manager)).toMatchObject([{ id: 'own' }, { id: 'service' }]);
    expect(await ask({ type: 'request-count' }, manager)).toMatchObject({ requests: 2 });
    expect(await ask({ type: 'usage', by: 'group' }, manager)).toMatchObject([{ name: 'ours', requests: 2 }]);
    const byModel = { type: 'usage-over-time', by: 'model', ...span() } as const;
    expect(await ask(byModel, manager)).toMatchObject([{ name: 'demo-chat', requests: 2 }]);
    expect(await ask({ ...byModel, own: true }, manager)).toEqual([]);
  });

  test('an administrator: everything', async () => {
    expect(JSON.stringify(await ask({ type: 'config' }, admin))).toContain(marker);
    expect(await ask({ type: 'request', id: team.theirs.request }, admin)).toMatchObject({
      request: { groupId: marker },
    });
  });
});
