/** Every command, query, export and event by people of one group, about another group. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CommandType } from '../../../../server/contract/commands.ts';
import { GatewayError } from '../../../../server/contract/errors.ts';
import type { Person } from '../../../../server/contract/people.ts';
import type { QueryInputMap, QueryType } from '../../../../server/contract/queries.ts';
import { begun } from '../../../support/eventually.ts';
import { commands, queries, span } from './matrix-cases.ts';
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

/** Replaces the names of objects that do not exist by those that do. */
function renamed(outcome: Outcome, names: Names): Outcome {
  let text = JSON.stringify(outcome);
  for (const [part, name] of Object.entries(nowhere)) text = text.replaceAll(name, names[part as keyof Names]);
  return JSON.parse(text);
}

/** A result as text, without the names that the query itself contained. */
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
      // Existing objects must look like missing ones.
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
      // The last change is reported last.
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
    for (const by of ['day', 'model', 'provider'] as const)
      expect(await ask({ type: 'usage', by }, member)).toMatchObject([{ requests: 1 }]);
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
    for (const by of ['day', 'model', 'provider'] as const)
      expect(await ask({ type: 'usage', by }, manager)).toMatchObject([{ requests: 2 }]);
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
