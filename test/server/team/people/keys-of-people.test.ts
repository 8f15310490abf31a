import { afterAll, beforeAll, expect, test } from 'vitest';
import type {
  CommandInput,
  CommandInputMap,
  CommandResults,
  CommandType,
} from '../../../../server/contract/commands.ts';
import type { ControlEvent } from '../../../../server/contract/events.ts';
import { maxReported } from '../../../../server/contract/find.ts';
import type { Person, TokenScope } from '../../../../server/contract/people.ts';
import { hasRights, personIdOf, rightsOf } from '../../../../server/team/people/people-service.ts';
import { hashOf, testKey } from '../../../support/gateway.ts';
import { completion, strictChat } from '../../../support/strict-chat.ts';
import { json, startUpstream } from '../../../support/upstream.ts';
import { type ControlGateway, gatherEvents, startControlGateway } from '../../control/control-gateway.ts';
import { admin, manager, member, personOf, signedIn, withSignIn } from './planted-team.ts';

let sluice: ControlGateway;
beforeAll(async () => {
  sluice = await startControlGateway({
    config: {
      groups: [{ id: 'default' }, { id: 'ours' }, { id: 'theirs' }, { id: 'limited', models: ['fast', 'demo-chat'] }],
      settings: { demo: 'on' },
      keys: [],
    },
    ports: withSignIn,
  });
});
afterAll(() => sluice.stop());

const give = <T extends CommandType>(command: CommandInputMap[T], person: Person): Promise<CommandResults[T]> =>
  sluice.gateway.execute(command as CommandInput, signedIn(person)) as Promise<CommandResults[T]>;
const forbidden = { code: 'forbidden' };

test('a key that a member makes is theirs, with an id that says nothing of other keys', async () => {
  const { key, secret } = await give<'key.create'>({ type: 'key.create', group: 'ours', name: 'Laptop' }, member);
  expect(key).toMatchObject({ owner: member.id, name: 'Laptop', id: expect.stringMatching(/^key-[0-9a-f]{12}$/) });
  expect(await give<'key.reveal'>({ type: 'key.reveal', id: key.id }, member)).toEqual({ secret });
  expect((await give<'key.rotate'>({ type: 'key.rotate', id: key.id }, member)).secret).not.toBe(secret);
});

test('a member cannot create a key without an owner, or one that captures', async () => {
  for (const more of [{ own: false }, { capture: true }, { faults: true }]) {
    await expect(give({ type: 'key.create', group: 'ours', ...more }, member)).rejects.toMatchObject(forbidden);
  }
});

test('a manager creates keys without an owner, unless they choose otherwise', async () => {
  const service = await give<'key.create'>({ type: 'key.create', group: 'ours' }, manager);
  const own = await give<'key.create'>({ type: 'key.create', group: 'ours', own: true }, manager);
  expect([service.key.owner, own.key.owner]).toEqual([null, manager.id]);
  expect(await give({ type: 'key.reveal', id: service.key.id }, manager)).toEqual({ secret: service.secret });
});

test('a member chooses for their own key who answers, among what group and key allow', async () => {
  const mia = personOf('mia', { memberOf: ['limited'] });
  const { key } = await give<'key.create'>({ type: 'key.create', group: 'limited' }, mia);
  const alias = (model: string) => ({ name: 'fast', targets: [{ provider: 'demo', model }] });
  const put = (model: string, person: Person) => give({ type: 'alias.put', key: key.id, alias: alias(model) }, person);
  await put('demo-chat', mia);
  await expect(put('demo-reasoning', mia)).rejects.toMatchObject({ code: 'invalid_value' });
  await expect(put('demo-chat', personOf('else', { memberOf: ['limited'] }))).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(give({ type: 'alias.put', alias: alias('demo-chat') }, mia)).rejects.toMatchObject(forbidden);
  const [view] = (await sluice.gateway.query({ type: 'keys' }, signedIn(mia))).filter(({ id }) => id === key.id);
  expect(view?.aliases).toMatchObject([alias('demo-chat')]);
  await give({ type: 'alias.remove', key: key.id, name: 'fast' }, mia);
});

test('a manager restricts and revokes the key of a member, but never learns its secret', async () => {
  const { key } = await give<'key.create'>({ type: 'key.create', group: 'ours' }, member);
  await expect(give({ type: 'key.reveal', id: key.id }, manager)).rejects.toMatchObject(forbidden);
  await expect(give({ type: 'key.rotate', id: key.id }, manager)).rejects.toMatchObject(forbidden);
  for (const [person, canReveal] of [
    [member, true],
    [manager, false],
    [admin, true],
  ] as const) {
    const seen = await sluice.gateway.query({ type: 'keys' }, signedIn(person));
    expect(seen.find(({ id }) => id === key.id)).toMatchObject({ canReveal });
  }
  await give({ type: 'key.update', id: key.id, changes: { enabled: false } }, manager);
  // The owner cannot undo this.
  const enabled = give({ type: 'key.update', id: key.id, changes: { enabled: true } }, member);
  await expect(enabled).rejects.toMatchObject(forbidden);
  await give({ type: 'key.update', id: key.id, changes: { name: 'Still mine' } }, member);
  await give({ type: 'key.revoke', id: key.id }, manager);
  expect(await sluice.configText()).not.toContain(key.id);
});

test('a person who has left a group may revoke the key there, but no longer sees its secret', async () => {
  const { key } = await give<'key.create'>({ type: 'key.create', group: 'ours' }, member);
  const left = { ...member, memberOf: [] };
  await expect(give({ type: 'key.reveal', id: key.id }, left)).rejects.toMatchObject(forbidden);
  await give({ type: 'key.revoke', id: key.id }, left);
});

test('an administrator moves a key and sees its secret', async () => {
  const { key, secret } = await give<'key.create'>({ type: 'key.create', group: 'ours' }, member);
  await give({ type: 'key.update', id: key.id, changes: { group: 'theirs' } }, admin);
  expect(await give({ type: 'key.reveal', id: key.id }, admin)).toEqual({ secret });
});

test('no signed-in person gets an address that lets others in, or changes files of the machine', async () => {
  await expect(give({ type: 'window.create-address' }, admin)).rejects.toMatchObject(forbidden);
  const undo = give({ type: 'connect.undo', client: 'codex', fingerprint: 'any' }, admin);
  await expect(undo).rejects.toMatchObject(forbidden);
});

test.each<[TokenScope[], string[]]>([
  [['read'], ['query']],
  [['keys'], ['key']],
  [['write'], ['key', 'alias']],
  [
    ['read', 'write'],
    ['query', 'key', 'alias'],
  ],
])('an API token with the scopes %j opens %j', async (scopes, opened) => {
  const by = { ...signedIn(admin), scopes };
  const tries = {
    query: sluice.gateway.query({ type: 'keys' }, by),
    key: sluice.gateway.execute({ type: 'key.create', group: 'ours' }, by),
    alias: sluice.gateway.execute({ type: 'cassette.rewind' }, by),
  };
  const results = await Promise.allSettled(Object.values(tries));
  expect(Object.keys(tries).filter((_, index) => results[index]?.status === 'fulfilled')).toEqual(opened);
});

test('rights add up over the groups of the identity provider', () => {
  const rights = rightsOf(
    ['leads', 'everyone', 'unmapped'],
    [
      { claim: 'admins', role: 'admin' },
      { claim: 'leads', role: 'manager', groups: ['ours'] },
      { claim: 'everyone', role: 'member', groups: ['ours', 'default'] },
      { claim: 'leads', role: 'member', groups: ['default'] },
    ],
    new Map(),
  );
  expect(rights).toEqual({ isAdmin: false, manages: ['ours'], memberOf: ['ours', 'default'] });
  expect([
    hasRights(rights),
    hasRights(rightsOf(['unmapped'], [{ claim: 'admins', role: 'admin' }], new Map())),
  ]).toEqual([...[true, false]]);
});

test('a group of the mapping that does not exist gives nothing', async () => {
  const visitor = personOf('visitor', { manages: ['gone'], memberOf: ['gone'] });
  const created = give({ type: 'key.create', group: 'gone' }, visitor);
  await expect(created).rejects.toMatchObject({ code: 'not_found' });
});

test('a person is somebody else at another identity provider', () => {
  expect(personIdOf('https://a.example', 'x')).toBe(personIdOf('https://a.example', 'x'));
  expect(personIdOf('https://a.example', 'x')).not.toBe(personIdOf('https://b.example', 'x'));
  expect(personIdOf('https://a.example', 'x')).toMatch(/^prs_[0-9a-f]{24}$/);
});

test('a member is notified of changes to their key and group, and finds them, however many others there are', async () => {
  const others = Array.from({ length: maxReported + 100 }, (_, index) => ({
    ...{ id: `k${index}`, group: 'theirs', hash: hashOf(`secret ${index}`) },
  }));
  const otherGroups = Array.from({ length: maxReported + 100 }, (_, index) => ({ id: `g${index}` }));
  const own = { id: 'own', group: 'ours', owner: member.id, hash: hashOf('own') };
  const crowded = await startControlGateway({
    config: { groups: [...otherGroups, { id: 'theirs' }, { id: 'ours' }], keys: [...others, own] },
    ports: withSignIn,
  });
  const heard = new Promise<ControlEvent>((resolve) => {
    const stop = crowded.gateway.onEvent(({ event }) => {
      resolve(event);
      queueMicrotask(() => stop());
    }, signedIn(member));
  });
  expect(await heard).toMatchObject({
    ...{ type: 'snapshot', keys: [{ id: 'own' }], keyCount: 1 },
    ...{ groups: [{ id: 'ours', keyCount: 1 }], groupCount: 1 },
  });
  const found = (asked: object) => crowded.gateway.query({ type: 'find-keys', ...asked }, signedIn(member));
  expect(await found({})).toMatchObject({ found: [{ id: 'own' }], total: 1 });
  expect(await found({ ids: ['own', 'k1'] })).toMatchObject({ found: [{ id: 'own' }], total: 1 });
  expect(await found({ search: 'k1' })).toEqual({ found: [], total: 0 });
  const foundGroups = (asked: object) => crowded.gateway.query({ type: 'find-groups', ...asked }, signedIn(member));
  expect(await foundGroups({})).toMatchObject({ found: [{ id: 'ours' }], total: 1 });
  expect(await foundGroups({ ids: ['ours', 'g1', 'theirs'] })).toMatchObject({ found: [{ id: 'ours' }], total: 1 });
  expect(await foundGroups({ search: 'g1' })).toEqual({ found: [], total: 0 });
  await crowded.stop();
});

test('the use of limits of keys is told in turn, to an administrator that of the first alone', async () => {
  const count = maxReported + 100;
  const last = `key-${count - 1}`;
  const keys = Array.from({ length: count }, (_, index) => ({
    ...{ id: `key-${index}`, group: 'default', limits: { requestsPerMinute: 10 } },
    ...(index === count - 1 && { owner: member.id }),
    hash: hashOf(index === count - 1 ? testKey : `secret ${index}`),
  }));
  const upstream = await startUpstream(strictChat((_body, response) => json(response, completion({ content: 'hi' }))));
  const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
  const crowded = await startControlGateway({ config: { keys, providers }, ports: withSignIn });
  const toOwner = gatherEvents(crowded.gateway, signedIn(member));
  const toAdmin = gatherEvents(crowded.gateway);
  await Promise.all([toOwner.next('snapshot'), toAdmin.next('snapshot')]);
  await crowded.client.chat.completions.create({ model: 'gpt-x', messages: [] });
  const told = await toOwner.next('limit-use', (use) => use.keys[last]?.[0]?.used === 1);
  expect(Object.keys(told.keys)).toEqual([last]);
  const heard = toAdmin.messages.flatMap(({ event }) => (event.type === 'limit-use' ? Object.keys(event.keys) : []));
  expect(heard).not.toContain(last);
  toOwner.stop();
  toAdmin.stop();
  await crowded.stop();
  await upstream.stop();
});

test("a member's keys are limited as the settings say, and a second one evades nothing", async () => {
  const upstream = await startUpstream(strictChat((_body, response) => json(response, completion({ content: 'hi' }))));
  const limits = { requestsPerMinute: 50, budgets: [{ unit: 'tokens' as const, amount: 40, per: 'month' as const }] };
  const people = {
    ...{ issuer: 'https://id.example', clientId: 'sluice', roles: [{ claim: 'a', role: 'admin' as const }] },
    ...{ personLimits: limits, memberKeyLimits: { requestsPerMinute: 9 } },
  };
  const team = await startControlGateway({
    config: {
      providers: [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }],
      groups: [{ id: 'ours' }],
      keys: [],
      settings: { people },
    },
    ports: withSignIn,
  });
  const make = async (more: object, by: Person) => {
    const command = { type: 'key.create', group: 'ours', own: true, ...more } as CommandInputMap['key.create'];
    return (await team.gateway.execute(command as CommandInput, signedIn(by))) as CommandResults['key.create'];
  };
  const ask = async ({ secret }: { secret: string }) => {
    const response = await fetch(`${team.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-x', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }),
    });
    return { status: response.status, text: await response.text() };
  };
  const [first, tighter, looser, ofManager] = [
    await make({}, member),
    await make({ limits: { requestsPerMinute: 2, concurrent: 1 } }, member),
    await make({ limits: { requestsPerMinute: 100 } }, member),
    await make({ limits: { requestsPerMinute: 100 } }, manager),
  ];
  expect([first, tighter, looser, ofManager].map(({ key }) => key.limits)).toEqual([
    { requestsPerMinute: 9, budgets: [] },
    { requestsPerMinute: 2, concurrent: 1, budgets: [] },
    { requestsPerMinute: 9, budgets: [] },
    { requestsPerMinute: 100, budgets: [] },
  ]);
  expect((await ask(first)).status).toBe(200);
  expect((await ask(looser)).status).toBe(200);
  await team.gateway.execute({ type: 'key.revoke', id: first.key.id });
  const refused = await ask(await make({}, member));
  expect(refused).toMatchObject({ status: 429, text: expect.stringContaining('sluice people limit prs_') });
  expect((await ask(ofManager)).status).toBe(200);
  const { limitUse } = await team.gateway.query({ type: 'who-am-i' }, signedIn(member));
  expect(limitUse.map(({ kind, used }) => [kind, used])).toEqual([
    ['requests', 2],
    ['budget', 60],
  ]);
  await team.gateway.execute({ type: 'person.limit', id: member.id, limits: {} });
  expect((await ask(tighter)).status).toBe(200);
  await team.gateway.execute({ type: 'person.limit', id: member.id, limits: null });
  expect((await ask(tighter)).status).toBe(429);
  await team.stop();
  await upstream.stop();
});
