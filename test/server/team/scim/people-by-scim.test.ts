/** What becomes of people and their rights when the identity provider pushes them by SCIM. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PersonView } from '../../../../server/contract/people-views.ts';
import { personIdOf } from '../../../../server/team/people/people-service.ts';
import { begun } from '../../../support/eventually.ts';
import { hashOf } from '../../../support/gateway.ts';
import { runVerb } from '../../cli/run-cli.ts';
import { type SignInGateway, startSignInGateway } from '../people/signed-in.ts';
import { patch, type ScimClient, scimClientOf } from './scim-client.ts';

let team: SignInGateway;
let token: string;
const scim = scimClientOf(
  () => team.sluice.origin,
  () => token,
);
const switchOn = async () => {
  token = (await team.sluice.gateway.execute({ type: 'scim.token' })).secret;
};
const demo = {
  groups: [{ id: 'default' }, { id: 'ours', providers: ['demo'] }],
};

beforeEach(async () => {
  team = await startSignInGateway({ config: demo, settings: { demo: 'on' } });
});
afterEach(() => team.stop());

const whoIs = async (cookie: string): Promise<PersonView | number> => {
  const response = await team.call('/query', { cookie }, { type: 'who-am-i' });
  return response.ok ? (await response.json()).result.person : response.status;
};
const statusOf = async (who: { cookie?: string; token?: string }) =>
  (await team.call('/query', who, { type: 'who-am-i' })).status;
const roleOf = async (cookie: string) => {
  const person = await whoIs(cookie);
  return typeof person === 'number' ? person : [person.isAdmin, person.manages, person.memberOf].flat();
};
const give = async (cookie: string, command: object) =>
  (await (await team.call('/execute', { cookie }, command)).json()).result;
const addUser = async (externalId: string | null, email = `${externalId}@acme.example`): Promise<string> => {
  const { body, status } = await scim('POST', '/Users', { userName: email, externalId, emails: [{ value: email }] });
  expect(status).toBe(201);
  return body.id;
};
const actions = async () =>
  (await team.sluice.gateway.query({ type: 'audit', limit: 100 })).entries
    .map(({ action, personId, personName, target, address }) => ({ action, personId, personName, target, address }))
    .reverse();
const modelsWith = async (secret: string) =>
  (await fetch(`${team.sluice.baseUrl}/models`, { headers: { authorization: `Bearer ${secret}` } })).status;

test('only people whom the identity provider has pushed can sign in, and administrators', async () => {
  expect(await statusOf({ cookie: await team.signIn('mia') })).toBe(200);
  await switchOn();
  const begunSignIn = await fetch(`${team.sluice.origin}/control/sign-in`, { redirect: 'manual' });
  const back = await team.identity.signIn(begunSignIn.headers.get('location') ?? '', 'mia');
  const cookies = begunSignIn.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ');
  const refused = await fetch(back, { redirect: 'manual', headers: { cookie: cookies, accept: 'text/html' } });
  expect(refused.headers.get('location')).toBe('/?sign-in=not-assigned');
  expect(await statusOf({ cookie: await team.signIn('ada') })).toBe(200);
  await addUser('mia');
  expect(await roleOf(await team.signIn('mia'))).toEqual([false, 'ours']);
  expect((await team.sluice.gateway.query({ type: 'people' })).map(({ name, scim: state }) => [name, state])).toEqual([
    ['ada of Acme', 'unknown'],
    ['mia of Acme', 'active'],
  ]);
});

test('nobody takes the place of another one with a name or an e-mail address', async () => {
  await switchOn();
  const user = await addUser('00u-of-somebody-else', 'mia@acme.example');
  const { body: leads } = await scim('POST', '/Groups', { displayName: 'leads', members: [{ value: user }] });
  expect(leads.members).toHaveLength(1);
  expect(await statusOf({ cookie: await team.signIn('mia') })).toBe(401);
  await scim('PATCH', `/Users/${user}`, patch({ op: 'replace', path: 'externalId', value: 'mia' }));
  expect(await roleOf(await team.signIn('mia'))).toEqual([false, 'ours', 'ours']);
});

test.each<[string, (user: string) => Parameters<ScimClient>]>([
  ['Okta’s PATCH', (user) => ['PATCH', `/Users/${user}`, patch({ op: 'replace', value: { active: false } })]],
  ['Entra’s PATCH', (user) => ['PATCH', `/Users/${user}`, patch({ op: 'Replace', path: 'active', value: 'False' })]],
  ['Okta’s PUT', (user) => ['PUT', `/Users/${user}`, { userName: 'mia@acme.example', active: false }]],
  ['a DELETE', (user) => ['DELETE', `/Users/${user}`]],
  ['another external id', (user) => ['PATCH', `/Users/${user}`, patch({ op: 'add', path: 'externalId', value: 'x' })]],
])('%s ends sessions, streams, API tokens and keys at once, and leaves requests', async (_what, request) => {
  await switchOn();
  const user = await addUser('mia');
  const [mia, ada] = [await team.signIn('mia'), await team.signIn('ada')];
  const { secret: api } = await give(mia, { type: 'token.create', name: 'ci', scopes: ['read'] });
  const { secret: key } = await give(mia, { type: 'key.create', group: 'ours' });
  expect(await modelsWith(key)).toBe(200);
  const stream = await team.call('/events', { cookie: mia });
  const chat = await fetch(`${team.sluice.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'hello' }] }),
  });
  await chat.text();
  const record = await team.sluice.record(chat.headers.get('x-sluice-request-id') ?? '');
  const ended = begun(stream.text());
  expect((await scim(...request(user))).status).toBeLessThan(300);
  await ended;
  expect(await Promise.all([{ cookie: mia }, { token: api }, { cookie: ada }].map(statusOf))).toEqual([401, 401, 200]);
  expect(await modelsWith(key)).toBe(401);
  expect((await team.sluice.gateway.query({ type: 'keys' })).filter(({ owner }) => owner !== null)).toEqual([]);
  expect(await team.sluice.record(record.id)).toEqual(record);
  expect(await statusOf({ cookie: await team.signIn('mia') })).toBe(401);
});

test('whoever is active again can sign in again, with new keys', async () => {
  await switchOn();
  const user = await addUser('mia');
  const { secret: key } = await give(await team.signIn('mia'), { type: 'key.create', group: 'ours' });
  const setActive = (value: unknown) =>
    scim('PATCH', `/Users/${user}`, patch({ op: 'Replace', path: 'active', value }));
  await setActive('False');
  await setActive('True');
  const again = await team.signIn('mia');
  expect([await statusOf({ cookie: again }), await modelsWith(key)]).toEqual([200, 401]);
  const { secret: other } = await give(again, { type: 'key.create', group: 'ours' });
  await scim('DELETE', `/Users/${user}`);
  expect(await modelsWith(other)).toBe(401);
  await addUser('mia');
  expect(await statusOf({ cookie: await team.signIn('mia') })).toBe(200);
});

test('an administrator who was disabled is none any more, also after the user was deleted', async () => {
  await switchOn();
  const user = await addUser('ada');
  const ada = await team.signIn('ada');
  expect(await roleOf(ada)).toEqual([true]);
  await scim('DELETE', `/Users/${user}`);
  expect([await statusOf({ cookie: ada }), await statusOf({ cookie: await team.signIn('ada') })]).toEqual([401, 401]);
});

test('where the configuration is a file that Sluice does not write, whoever leaves has access no more, and keys are named', async () => {
  await team.stop();
  const secret = ['slk', 'of', 'mia', 'in', 'the', 'file'].join('-');
  team = await startSignInGateway({
    ...{ declarative: true, settings: { demo: 'on' } },
    config: (issuer) => ({
      ...demo,
      keys: [{ id: 'laptop', group: 'ours', hash: hashOf(secret), owner: personIdOf(issuer, 'mia') }],
    }),
  });
  await switchOn();
  const [user, other] = [await addUser('mia'), await addUser('mo')];
  const [mia, mo] = [await team.signIn('mia'), await team.signIn('mo')];
  expect((await scim('PATCH', `/Users/${user}`, patch({ op: 'replace', path: 'active', value: false }))).status).toBe(
    200,
  );
  for (const id of [user, other]) expect((await scim('DELETE', `/Users/${id}`)).status).toBe(204);
  expect([await statusOf({ cookie: mia }), await statusOf({ cookie: mo })]).toEqual([401, 401]);
  expect(await modelsWith(secret)).toBe(200);
  const left = (await actions()).filter(({ action }) => action === 'left' || action === 'scim.user.delete');
  expect(left.map(({ action, target }) => [action, target])).toEqual([
    ['left', 'laptop'],
    ['scim.user.delete', 'mia@acme.example'],
    ['left', null],
    ['scim.user.delete', 'mo@acme.example'],
  ]);
});

test('keys of leavers are disabled or kept if the settings say so', async () => {
  const { people } = (await team.sluice.gateway.query({ type: 'status' })).settings;
  if (!people) throw new Error('people sign in here');
  await team.sluice.gateway.execute({
    type: 'settings.update',
    changes: { people: { ...people, keysOfLeavers: 'disable' } },
  });
  await switchOn();
  const user = await addUser('mia');
  await give(await team.signIn('mia'), { type: 'key.create', group: 'ours' });
  await scim('DELETE', `/Users/${user}`);
  const keys = await team.sluice.gateway.query({ type: 'keys' });
  expect(keys.filter(({ owner }) => owner !== null)).toMatchObject([{ enabled: false }]);
});

describe('groups', () => {
  let user: string;
  let mia: string;
  beforeEach(async () => {
    await switchOn();
    user = await addUser('mia');
    mia = await team.signIn('mia');
  });
  const push = async (displayName: string, externalId?: string): Promise<string> => {
    const { body } = await scim('POST', '/Groups', { displayName, ...(externalId && { externalId }) });
    return body.id;
  };
  const say = (group: string, op: string) =>
    scim('PATCH', `/Groups/${group}`, patch({ op, path: 'members', value: [{ value: user }] }));

  test('count as those of the claim do, at once, and what SCIM has said of a person wins', async () => {
    expect(await roleOf(mia)).toEqual([false, 'ours']);
    const [devs, leads] = [await push('devs'), await push('leads')];
    expect(await roleOf(mia)).toEqual([false, 'ours']);
    await say(leads, 'Add');
    expect(await roleOf(mia)).toEqual([false, 'ours', 'ours']);
    await say(devs, 'Remove');
    expect(await roleOf(mia)).toEqual([false, 'ours']);
    await say(leads, 'Remove');
    // In no group any more: shut out, but their keys stay, since they may be on the way to another group.
    expect(await roleOf(mia)).toBe(401);
    await say(devs, 'Add');
    expect(await roleOf(mia)).toEqual([false, 'ours']);
    await scim('DELETE', `/Groups/${leads}`);
    team.identity.groups.set('mia', ['leads']);
    expect(await roleOf(await team.signIn('mia'))).toEqual([false, 'ours', 'ours']);
  });

  test('can be mapped by their external id, as Entra names them in the claim', async () => {
    await say(await push('Leads of all', 'leads'), 'Add');
    expect(await roleOf(mia)).toEqual([false, 'ours', 'ours']);
  });

  test.each<[string, (group: string) => Parameters<ScimClient>]>([
    ['deleted', (group) => ['DELETE', `/Groups/${group}`]],
    [
      'named otherwise',
      (group) => ['PATCH', `/Groups/${group}`, patch({ op: 'replace', path: 'displayName', value: 'x' })],
    ],
  ])('that are %s do not come back by what the claim said before', async (_what, request) => {
    team.identity.groups.set('mia', ['leads', 'devs']);
    const again = await team.signIn('mia');
    expect(await roleOf(again)).toEqual([false, 'ours', 'ours']);
    const leads = await push('leads');
    await say(leads, 'Remove');
    expect(await roleOf(again)).toEqual([false, 'ours']);
    await scim(...request(leads));
    expect(await roleOf(again)).toEqual([false, 'ours']);
    expect(await roleOf(await team.signIn('mia'))).toEqual([false, 'ours', 'ours']);
  });

  test('of which the name is the external id of another one count by their own external id alone', async () => {
    await say(await push('leads', 'id-of-mine'), 'Add');
    expect(await roleOf(mia)).toEqual([false, 'ours', 'ours']);
    const real = await push('Leads of all', 'leads');
    expect(await roleOf(mia)).toEqual([false, 'ours']);
    await say(real, 'Add');
    expect(await roleOf(mia)).toEqual([false, 'ours', 'ours']);
    await say(real, 'Remove');
    expect(await roleOf(mia)).toEqual([false, 'ours']);
  });

  test('of somebody who has left are not those of whoever gets their user', async () => {
    await say(await push('leads'), 'Add');
    await scim('PATCH', `/Users/${user}`, patch({ op: 'replace', path: 'active', value: false }));
    await scim(
      'PATCH',
      `/Users/${user}`,
      patch({ op: 'add', path: 'externalId', value: 'mo' }, { op: 'replace', path: 'active', value: true }),
    );
    team.identity.groups.set('mo', ['devs']);
    expect(await roleOf(await team.signIn('mo'))).toEqual([false, 'ours']);
  });

  test('never make an administrator, but take it away', async () => {
    const admins = await push('admins');
    await say(admins, 'Add');
    expect(await roleOf(mia)).toEqual([false, 'ours']);
    await say(await push('x', 'admins'), 'Add');
    expect(await roleOf(await team.signIn('mia'))).toEqual([false, 'ours']);
    team.identity.groups.set('mia', ['admins', 'devs']);
    const again = await team.signIn('mia');
    expect(await roleOf(again)).toEqual([true, 'ours']);
    await scim(
      'DELETE',
      `/Groups/${(await scim('GET', '/Groups?filter=externalId%20eq%20%22admins%22')).body.Resources[0].id}`,
    );
    await say(admins, 'Remove');
    expect(await roleOf(again)).toEqual([false, 'ours']);
  });

  test('a stream ends when they change what its person may see', async () => {
    const stream = await team.call('/events', { cookie: mia });
    const ended = begun(stream.text());
    await say(await push('leads'), 'Add');
    await ended;
  });
});

test('people whose external id nobody knows are shut out by their address, and others of that address are not', async () => {
  const { people } = (await team.sluice.gateway.query({ type: 'status' })).settings;
  if (!people) throw new Error('people sign in here');
  const claim = (externalIdClaim: string) =>
    team.sluice.gateway.execute({ type: 'settings.update', changes: { people: { ...people, externalIdClaim } } });
  await claim('oid');
  const mia = await team.signIn('mia');
  const { secret: key } = await give(mia, { type: 'key.create', group: 'ours' });
  await switchOn();
  const user = await addUser('oid-of-mia', 'MIA@acme.example');
  await scim('PATCH', `/Users/${user}`, patch({ op: 'replace', path: 'active', value: false }));
  expect([await statusOf({ cookie: mia }), await modelsWith(key)]).toEqual([401, 401]);
  await claim('sub');
  await addUser('mia', 'mia@other.example');
  const again = await team.signIn('mia');
  await scim('DELETE', `/Users/${user}`);
  expect(await statusOf({ cookie: again })).toBe(200);
});

test('without its token, or with another identity provider, nothing that was pushed counts', async () => {
  await switchOn();
  const user = await addUser('mia');
  await scim('PATCH', `/Users/${user}`, patch({ op: 'replace', path: 'active', value: false }));
  await team.sluice.gateway.execute({ type: 'scim.off' });
  expect(await team.sluice.gateway.query({ type: 'scim' })).toMatchObject({ isOn: false, users: 1, active: 0 });
  const mia = await team.signIn('mia');
  expect(await statusOf({ cookie: mia })).toBe(200);
  await switchOn();
  expect(await statusOf({ cookie: mia })).toBe(401);
  const { people } = (await team.sluice.gateway.query({ type: 'status' })).settings;
  if (!people) throw new Error('people sign in here');
  const other = { ...people, issuer: 'https://other.example' };
  await team.sluice.gateway.execute({ type: 'settings.update', changes: { people: other } });
  expect([(await scim('GET', '/Users')).status, (await team.sluice.gateway.query({ type: 'scim' })).isOn]).toEqual([
    401,
    false,
  ]);
  await switchOn();
  expect((await scim('GET', '/Users')).body.totalResults).toBe(0);
});

test('the audit list names what was pushed, who left, and who made the token', async () => {
  await switchOn();
  await addUser('ada');
  await team.signIn('ada');
  const user = await addUser('mia');
  await scim('PUT', `/Users/${user}`, { userName: 'mia@acme.example', displayName: 'Mia' });
  await scim('PUT', `/Users/${user}`, { userName: 'mia@acme.example', displayName: 'Mia' });
  for (const value of [false, true])
    await scim('PATCH', `/Users/${user}`, patch({ op: 'replace', path: 'active', value }));
  const { body: group } = await scim('POST', '/Groups', { displayName: 'devs' });
  for (const op of ['add', 'add', 'remove'])
    await scim('PATCH', `/Groups/${group.id}`, patch({ op, path: 'members', value: [{ value: user }] }));
  await scim('DELETE', `/Groups/${group.id}`);
  await scim('DELETE', `/Users/${user}`);
  await team.sluice.gateway.execute({ type: 'scim.off' });
  const entries = await actions();
  const ofScim = entries.filter(({ personId }) => personId === 'scim');
  expect(ofScim.map(({ action, target }) => `${action} ${target}`)).toEqual([
    'scim.user.create ada@acme.example',
    'scim.user.create mia@acme.example',
    'scim.user.update mia@acme.example',
    'scim.user.disable mia@acme.example',
    'scim.user.enable mia@acme.example',
    'scim.group.create devs',
    ...['scim.group.update devs', 'scim.group.update devs'],
    ...['scim.group.delete devs', 'scim.user.delete mia@acme.example'],
  ]);
  expect(new Set(ofScim.map(({ personName, address }) => `${personName} ${address}`))).toEqual(
    new Set(['SCIM 127.0.0.1']),
  );
  expect(
    entries.filter(({ action }) => action.startsWith('scim.t') || action === 'scim.off').map(({ action }) => action),
  ).toEqual(['scim.token', 'scim.off']);
});

test('the audit list says what was pushed of users and groups, and of many members the first and their number', async () => {
  await switchOn();
  const user = await addUser('mia');
  await scim('PUT', `/Users/${user}`, { userName: 'mia', displayName: 'Mia', active: false });
  const ids: string[] = [];
  for (let index = 0; index < 51; index++) ids.push((await scim('POST', '/Users', { userName: `u${index}` })).body.id);
  const { body: group } = await scim('POST', '/Groups', { displayName: 'devs', members: [{ value: user }] });
  await scim(
    'PATCH',
    `/Groups/${group.id}`,
    patch(
      { op: 'replace', path: 'displayName', value: 'leads' },
      { op: 'replace', path: 'members', value: ids.map((value) => ({ value })) },
    ),
  );
  await scim('DELETE', `/Groups/${group.id}`);
  await scim('DELETE', `/Users/${user}`);
  const { entries } = await team.sluice.gateway.query({ type: 'audit', limit: 100 });
  const changed = (action: string, name: string) =>
    entries
      .filter(({ action: is, changes }) => is === action && changes[0]?.name === name)
      .flatMap(({ changes }) => changes)
      .map(({ part, kind, fields }) => [
        ...[part, kind],
        Object.fromEntries(fields.map(({ name: field, before, after }) => [field, [before, after]])),
      ]);
  const email = JSON.stringify([{ value: 'mia@acme.example' }]);
  expect(changed('scim.user.create', 'mia@acme.example')).toEqual([
    [
      ...['scim-user', 'added'],
      {
        userName: [null, '"mia@acme.example"'],
        externalId: [null, '"mia"'],
        active: [null, 'true'],
        emails: [null, email],
      },
    ],
  ]);
  expect(changed('scim.user.disable', 'mia')).toEqual([
    [
      ...['scim-user', 'changed'],
      {
        userName: ['"mia@acme.example"', '"mia"'],
        active: ['true', 'false'],
        displayName: [null, '"Mia"'],
        emails: [email, null],
      },
    ],
  ]);
  expect(changed('scim.user.delete', 'mia')).toMatchObject([['scim-user', 'removed', { externalId: ['"mia"', null] }]]);
  expect(changed('scim.group.create', 'devs')).toEqual([
    ['scim-group', 'added', { displayName: [null, '"devs"'], 'members.added': [null, '["mia"]'] }],
  ]);
  const [[, , update] = []] = changed('scim.group.update', 'leads') as [string, string, Record<string, string[]>][];
  expect(update).toMatchObject({
    displayName: ['"devs"', '"leads"'],
    'members.removed': ['["mia"]', null],
    'members.added.count': [null, '51'],
  });
  expect(JSON.parse(update?.['members.added']?.[1] ?? '')).toHaveLength(50);
  expect(changed('scim.group.delete', 'leads')).toEqual([
    ['scim-group', 'removed', { displayName: ['"leads"', null] }],
  ]);
});

test('whom SCIM cannot shut out is counted, and what a new token deletes is told before', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-scim-'));
  const run = (...words: string[]) =>
    runVerb(['scim', ...words, '--data-dir', folder, '--gateway', team.sluice.origin], {
      env: { SLUICE_TOKEN: team.sluice.adminToken },
    });
  await team.signIn('ada');
  await switchOn();
  const status = async () => (await run('status')).stdout;
  const mia = await addUser(null, 'mia@acme.example');
  expect(await team.sluice.gateway.query({ type: 'scim' })).toMatchObject({
    ...{ withoutExternalId: 1, unknownPeople: 1, deletesPushed: false },
  });
  expect(await status()).toMatch(/without id: +1 of [\s\S]*unknown: +1 who have/);
  await scim('PATCH', `/Users/${mia}`, patch({ op: 'add', path: 'externalId', value: 'mia' }));
  await scim('DELETE', `/Users/${await addUser('ada')}`);
  expect(await status()).not.toMatch(/without id|unknown/);
  const { people } = (await team.sluice.gateway.query({ type: 'status' })).settings;
  if (!people) throw new Error('people sign in here');
  const useIssuer = (issuer: string) =>
    team.sluice.gateway.execute({ type: 'settings.update', changes: { people: { ...people, issuer } } });
  await useIssuer(`${people.issuer}/`);
  expect(await team.sluice.gateway.query({ type: 'scim' })).toMatchObject({ isOn: true, deletesPushed: false });
  await switchOn();
  expect(await team.sluice.gateway.query({ type: 'scim' })).toMatchObject({ users: 1 });
  await useIssuer('https://other.example');
  expect(await team.sluice.gateway.query({ type: 'scim' })).toMatchObject({ isOn: false, deletesPushed: true });
  expect((await run('token')).stderr).toContain('has pushed is deleted (people: 1, groups: 0).');
  await rm(folder, { recursive: true });
});

test('the command line makes the token, shows whether it is used, and ends it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-scim-'));
  const { secret } = await give(await team.signIn('ada'), {
    type: 'token.create',
    name: 'cli',
    scopes: ['read', 'write'],
  });
  const run = (...words: string[]) =>
    runVerb([...words, '--data-dir', folder, '--gateway', team.sluice.origin], { env: { SLUICE_TOKEN: secret } });
  expect((await run('scim', 'status')).stdout).toContain('off: "sluice scim token"');
  const made = await run('scim', 'token', '--yes');
  token = made.stdout.trim();
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining(`For ${team.sluice.origin}/scim/v2.`)]);
  expect((await run('scim', 'status')).stdout).toContain('never');
  await addUser('mia');
  expect(JSON.parse((await run('scim', 'status', '--json')).stdout)).toMatchObject({ isOn: true, users: 1, active: 1 });
  expect((await run('audit')).stdout).toMatch(/SCIM +127\.0\.0\.1 +scim\.user\.create +mia@acme\.example/);
  expect((await run('scim', 'off', '--yes')).stdout).toBe('SCIM is off.\n');
  expect((await run('scim', 'off', '--yes')).stdout).toBe('SCIM was off.\n');
  expect((await scim('GET', '/Users')).status).toBe(401);
  await rm(folder, { recursive: true });
});
