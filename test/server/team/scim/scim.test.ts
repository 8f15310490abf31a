/** SCIM 2.0 as Okta and Microsoft Entra use it, by the requests of their documents, and who may use it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPeopleStore } from '../../../../server/store/sqlite/people-store.ts';
import { Provisioning } from '../../../../server/team/scim/provisioning.ts';
import { type SignInGateway, startSignInGateway } from '../people/signed-in.ts';
import { patch, scimClientOf } from './scim-client.ts';

const core = 'urn:ietf:params:scim:schemas:core:2.0';
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const messages = 'urn:ietf:params:scim:api:messages:2.0';
const eq = (attribute: string, value: string) => `filter=${encodeURIComponent(`${attribute} eq "${value}"`)}`;

let team: SignInGateway;
let token: string;
const scim = scimClientOf(
  () => team.sluice.origin,
  () => token,
);
const rotate = async () => {
  token = (await team.sluice.gateway.execute({ type: 'scim.token' })).secret;
};
beforeAll(async () => {
  team = await startSignInGateway();
});
beforeEach(rotate);
afterAll(() => team.stop());

/** A request, what it is answered with, and what is remembered of the answer: `{user}` in later ones. */
type Step = [
  request: string,
  body: object | null,
  answer: { status: number; body?: object | null },
  remembered?: Record<string, string>,
];

async function walk(steps: readonly Step[]): Promise<void> {
  const known = new Map<string, string>();
  const filled = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll(/\{(\w+)\}/g, (whole, name: string) => known.get(name) ?? whole));
  for (const [request, body, expected, remembered = {}] of steps) {
    const [method = '', path = ''] = filled(request).split(' ');
    const answer = await scim(method, path, body ? filled(body) : undefined);
    expect({ request, ...answer }).toMatchObject({ request, ...filled(expected) });
    if (answer.body) expect([request, answer.type]).toEqual([request, 'application/scim+json; charset=utf-8']);
    for (const [name, member] of Object.entries(remembered)) known.set(name, answer.body[member]);
  }
}

const listed = (totalResults: number, ...Resources: object[]) => ({
  status: 200,
  body: { schemas: [`${messages}:ListResponse`], totalResults, itemsPerPage: Resources.length, Resources },
});
const refused = (status: number, scimType?: string) => ({
  status,
  body: { schemas: [`${messages}:Error`], status: String(status), ...(scimType && { scimType }) },
});

test('serves the requests of Okta', async () => {
  const profile = {
    schemas: [`${core}:User`],
    userName: 'test.user@okta.local',
    name: { givenName: 'Test', familyName: 'User' },
    emails: [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
    displayName: 'Test User',
    active: true,
  };
  const sent = { ...profile, locale: 'en-US', externalId: '00ujl29u0le5T6Aj10h7', groups: [], password: '1mz050nq' };
  await walk([
    ['GET /Users?startIndex=1&count=2', null, listed(0)],
    ['GET /Groups?startIndex=1&count=100', null, listed(0)],
    [`GET /Users?${eq('userName', 'test.user@okta.local')}&startIndex=1&count=100`, null, listed(0)],
    [
      'POST /Users',
      sent,
      { status: 201, body: { ...profile, externalId: sent.externalId, groups: [] } },
      { user: 'id' },
    ],
    ['POST /Users', sent, refused(409, 'uniqueness')],
    [`GET /Users?${eq('userName', 'TEST.user@okta.local')}&startIndex=1&count=100`, null, listed(1, { id: '{user}' })],
    ['GET /Users?startIndex=1&count=100', null, listed(1, { id: '{user}', ...profile })],
    ['GET /Users?startIndex=2&count=100', null, listed(1)],
    ['GET /Users/{user}', null, { status: 200, body: { id: '{user}', meta: { resourceType: 'User' } } }],
    [
      'PUT /Users/{user}',
      { ...profile, id: '{user}', name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' } },
      { status: 200, body: { name: { middleName: 'Excited' }, externalId: sent.externalId, active: true } },
    ],
    [
      'PATCH /Users/{user}',
      patch({ op: 'replace', value: { active: false } }),
      { status: 200, body: { active: false } },
    ],
    ['PATCH /Users/{user}', patch({ op: 'replace', value: { active: true } }), { status: 200, body: { active: true } }],
    ['PUT /Users/{user}', { ...profile, active: false }, { status: 200, body: { active: false } }],
    [
      'POST /Groups',
      { schemas: [`${core}:Group`], displayName: 'Test SCIMv2', members: [] },
      { status: 201, body: { displayName: 'Test SCIMv2', members: [], meta: { resourceType: 'Group' } } },
      { group: 'id' },
    ],
    ['POST /Groups', { schemas: [`${core}:Group`], displayName: 'test scimv2' }, refused(409, 'uniqueness')],
    [
      'PATCH /Groups/{group}',
      patch({ op: 'replace', value: { id: '{group}', displayName: 'Test SCIMv20' } }),
      { status: 204, body: null },
    ],
    [
      'PATCH /Groups/{group}',
      patch(
        { op: 'remove', path: 'members[value eq "89bb1940-b905-4575-9e7f-6f887cfb368e"]' },
        { op: 'add', path: 'members', value: [{ value: '{user}', display: 'test.user@okta.local' }] },
      ),
      { status: 204 },
    ],
    [
      'GET /Groups/{group}',
      null,
      {
        status: 200,
        body: { displayName: 'Test SCIMv20', members: [{ value: '{user}', display: 'test.user@okta.local' }] },
      },
    ],
    ['GET /Users/{user}', null, { status: 200, body: { groups: [{ value: '{group}', display: 'Test SCIMv20' }] } }],
    ['PATCH /Groups/{group}', patch({ op: 'replace', path: 'members', value: [] }), { status: 204 }],
    ['GET /Groups/{group}', null, { status: 200, body: { members: [] } }],
    [
      'PUT /Groups/{group}',
      { displayName: 'Renamed', members: [{ value: '{user}' }] },
      { status: 200, body: { displayName: 'Renamed', members: [{ value: '{user}' }] } },
    ],
    ['DELETE /Groups/{group}', null, { status: 204, body: null }],
    ['GET /Groups/{group}', null, refused(404)],
    ['DELETE /Users/{user}', null, { status: 204, body: null }],
    ['GET /Users/{user}', null, refused(404)],
    [`GET /Users?${eq('userName', 'test.user@okta.local')}`, null, listed(0)],
  ]);
});

test('serves the requests of Microsoft Entra, with its flag for compliance and without it', async () => {
  const sent = {
    schemas: [`${core}:User`, enterprise],
    externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
    userName: 'Test_User_00aa00aa',
    active: true,
    emails: [{ primary: true, type: 'work', value: 'Test_User_11bb11bb@testuser.com' }],
    meta: { resourceType: 'User' },
    name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
    roles: [],
    [enterprise]: { department: 'Sales' },
  };
  const { schemas: _, meta: _meta, roles: _roles, [enterprise]: _extension, ...kept } = sent;
  const setActive = (value: unknown, op = 'Replace') => patch({ op, path: 'active', value });
  await walk([
    [
      'GET /Schemas',
      null,
      { status: 200, body: { totalResults: 2, Resources: [{ id: `${core}:User` }, { id: `${core}:Group` }] } },
    ],
    [`GET /Schemas/${core}:Group`, null, { status: 200, body: { name: 'Group' } }],
    [
      'GET /ServiceProviderConfig',
      null,
      { status: 200, body: { patch: { supported: true }, bulk: { supported: false } } },
    ],
    ['GET /ResourceTypes', null, { status: 200, body: { totalResults: 2 } }],
    [`GET /Users?${eq('userName', 'non-existent user')}`, null, listed(0)],
    ['POST /Users', sent, { status: 201, body: kept }, { user: 'id' }],
    [`GET /Users?${eq('userName', 'test_user_00AA00AA')}`, null, listed(1, { id: '{user}', ...kept })],
    [`GET /Users?${eq('externalId', sent.externalId)}`, null, listed(1, { id: '{user}' })],
    [`GET /Users?${eq('externalId', sent.externalId.toUpperCase())}`, null, listed(0)],
    ['GET /Users?filter=externalId%20eq%20jyoung', null, listed(0)],
    [
      `GET /Users?${eq('emails[type eq "work"].value', 'test_user_11bb11bb@testuser.com')}`,
      null,
      listed(1, { id: '{user}' }),
    ],
    [
      'PATCH /Users/{user}',
      patch(
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@microsoft.com' },
        { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
        { op: 'Replace', path: `${enterprise}:employeeNumber`, value: 'Eqpj' },
        { op: 'Add', path: 'nickName', value: 'Babs' },
        { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '1' },
      ),
      {
        status: 200,
        body: {
          emails: [{ primary: true, type: 'work', value: 'updatedEmail@microsoft.com' }],
          name: { familyName: 'updatedFamilyName', givenName: 'givenName' },
        },
      },
    ],
    [
      'PATCH /Users/{user}',
      patch({
        op: 'replace',
        value: { displayName: 'Bjfe', 'name.givenName': 'Kkom', [`${enterprise}:employeeNumber`]: 'Aklq' },
      }),
      { status: 200, body: { displayName: 'Bjfe', name: { familyName: 'updatedFamilyName', givenName: 'Kkom' } } },
    ],
    [
      'PATCH /Users/{user}',
      patch({ op: 'Replace', path: 'userName', value: 'new@testuser.com' }),
      { status: 200, body: { userName: 'new@testuser.com' } },
    ],
    ['PATCH /Users/{user}', patch({ op: 'Remove', path: 'displayName' }), { status: 200 }],
    ['PATCH /Users/{user}', setActive('False'), { status: 200, body: { active: false } }],
    [`GET /Users?${eq('userName', 'new@testuser.com')}`, null, listed(1, { active: false })],
    ['PATCH /Users/{user}', setActive('True', 'Add'), { status: 200, body: { active: true } }],
    ['PATCH /Users/{user}', setActive(false, 'replace'), { status: 200, body: { active: false } }],
    [
      'POST /Groups',
      {
        schemas: [`${core}:Group`, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
        externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
        displayName: 'displayName',
        meta: { resourceType: 'Group' },
      },
      { status: 201, body: { externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159', members: [] } },
      { group: 'id' },
    ],
    [
      'PATCH /Groups/{group}',
      patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: '{user}' }] }),
      { status: 204 },
    ],
    [`GET /Groups?excludedAttributes=members&${eq('displayName', 'DisplayName')}`, null, listed(1, { id: '{group}' })],
    ['GET /Groups/{group}?excludedAttributes=members', null, { status: 200, body: { displayName: 'displayName' } }],
    [
      `GET /Groups?filter=${encodeURIComponent('id eq "{group}" and members eq "{user}"')}`
        .replaceAll('%7B', '{')
        .replaceAll('%7D', '}'),
      null,
      listed(1, { members: [{ value: '{user}' }] }),
    ],
    ['PATCH /Groups/{group}', patch({ op: 'Replace', path: 'displayName', value: 'updated' }), { status: 204 }],
    [
      'PATCH /Groups/{group}',
      patch({ op: 'Remove', path: 'members', value: [{ $ref: null, value: '{user}' }] }),
      { status: 204 },
    ],
    ['GET /Groups/{group}', null, { status: 200, body: { displayName: 'updated', members: [] } }],
    ['PATCH /Groups/{group}', patch({ op: 'Add', path: 'members', value: [{ value: '{user}' }] }), { status: 204 }],
    ['PATCH /Groups/{group}', patch({ op: 'remove', path: 'members[value eq "{user}"]' }), { status: 204 }],
    ['GET /Groups/{group}', null, { status: 200, body: { members: [] } }],
    ['DELETE /Groups/{group}', null, { status: 204 }],
    ['DELETE /Users/{user}', null, { status: 204 }],
  ]);
  const excluded = await scim('GET', '/Groups?excludedAttributes=members');
  expect(JSON.stringify(excluded.body)).not.toContain('members');
});

test.each<[string, string, object | undefined, ReturnType<typeof refused>]>([
  ['another operator', 'GET /Users?filter=userName%20sw%20%22a%22', undefined, refused(400, 'invalidFilter')],
  ['another attribute', 'GET /Users?filter=title%20eq%20%22a%22', undefined, refused(400, 'invalidFilter')],
  ['an open quotation mark', 'GET /Users?filter=userName%20eq%20%22a', undefined, refused(400, 'invalidFilter')],
  ['an empty filter', 'GET /Groups?filter=', undefined, refused(400, 'invalidFilter')],
  ['a count that is no number', 'GET /Users?count=many', undefined, refused(400, 'invalidValue')],
  ['no name', 'POST /Users', { active: true }, refused(400, 'invalidValue')],
  ['no object', 'POST /Users', [], refused(400, 'invalidSyntax')],
  ['a name that is too long', 'POST /Users', { userName: 'x'.repeat(1_001) }, refused(400, 'invalidValue')],
  [
    'a name that no index has room for',
    'POST /Groups',
    { displayName: '\u{10ffff}'.repeat(129) },
    refused(400, 'invalidValue'),
  ],
  ['NUL in a name', 'POST /Users', { userName: 'x\0' }, refused(400, 'invalidValue')],
  ['NUL in a group', 'POST /Groups', { displayName: 'g', members: [{ value: '\0' }] }, refused(400, 'invalidValue')],
  ['NUL in a filter', 'GET /Users?filter=userName%20eq%20%22%5Cu0000%22', undefined, refused(400, 'invalidSyntax')],
  ['NUL in an address', 'GET /Groups/%00', undefined, refused(400, 'invalidValue')],
  ['active as an object', 'POST /Users', { userName: 'x', active: { toString: 1 } }, refused(400, 'invalidValue')],
  ['active as a word', 'POST /Users', { userName: 'x', active: 'perhaps' }, refused(400, 'invalidValue')],
  ['a group without a name', 'POST /Groups', {}, refused(400, 'invalidValue')],
  [
    'a member whom nobody knows',
    'POST /Groups',
    { displayName: 'g', members: [{ value: 'x' }] },
    refused(400, 'invalidValue'),
  ],
  ['an unknown user', 'PATCH /Users/x', patch(), refused(404)],
  ['an unknown group', 'DELETE /Groups/x', undefined, refused(404)],
  ['an unknown path', 'POST /Bulk', {}, refused(404)],
  ['a body that is too large', 'POST /Users', { userName: 'x', title: 'x'.repeat(2_200_000) }, refused(413)],
])('refuses %s in the words of SCIM', async (_what, request, body, expected) => {
  const [method = '', path = ''] = request.split(' ');
  expect(await scim(method, path, body)).toMatchObject(expected);
});

test.each<[string, object, string]>([
  ['a removal of nothing', patch({ op: 'remove' }), 'noTarget'],
  ['an unknown operation', patch({ op: 'move', path: 'userName' }), 'invalidSyntax'],
  ['no operations', {}, 'invalidSyntax'],
  ['an operation that is an object', patch({ op: { toString: 1 }, path: 'active', value: true }), 'invalidSyntax'],
  ['a path that is an object', patch({ op: 'add', path: { toString: 1 }, value: true }), 'invalidPath'],
  ['NUL in a path', patch({ op: 'add', path: 'emails[type eq "\\u0000"].value', value: 'x' }), 'invalidSyntax'],
  ['a path that is none', patch({ op: 'add', path: 'emails[', value: 'x' }), 'invalidPath'],
  ['no user name', patch({ op: 'remove', path: 'userName' }), 'invalidValue'],
])('refuses %s in a PATCH, and changes nothing', async (_what, body, scimType) => {
  const { body: user } = await scim('POST', '/Users', { userName: 'patched' });
  expect(await scim('PATCH', `/Users/${user.id}`, body)).toMatchObject(refused(400, scimType));
  expect((await scim('GET', `/Users/${user.id}`)).body).toEqual(user);
  await scim('DELETE', `/Users/${user.id}`);
});

test('refuses more operations than it carries out in time, and bodies that are no JSON', async () => {
  const { body: user } = await scim('POST', '/Users', { userName: 'many' });
  const rename = { op: 'replace', path: 'displayName', value: 'x' };
  const many = (count: number) => scim('PATCH', `/Users/${user.id}`, patch(...Array(count).fill(rename)));
  expect([(await many(1_000)).status, await many(1_001)]).toMatchObject([200, refused(413)]);
  await scim('DELETE', `/Users/${user.id}`);
  const post = (type: string, body: string) =>
    fetch(`${team.sluice.origin}/scim/v2/Users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      body,
    });
  const answers = [
    await post('application/x-www-form-urlencoded', 'userName=x'),
    await post('application/json', '{'),
    await post('application/json; charset=latin1', '{}'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([415, 400, 415]);
  for (const answer of answers) expect((await answer.json()).status).toBe(String(answer.status));
  expect((await scim('GET', '/Users/%ZZ')).status).toBe(400);
});

test('what is empty in an e-mail address does not stop what else is said of a user', async () => {
  const { body: user } = await scim('POST', '/Users', {
    userName: 'emails',
    emails: [
      { value: '', type: 'work' },
      { type: 'home' },
      { value: 'a@acme.example', type: '', display: '', primary: null },
    ],
  });
  expect(user.emails).toEqual([{ value: 'a@acme.example' }]);
  const path = 'emails[type eq "work"].value';
  const answer = await scim(
    'PATCH',
    `/Users/${user.id}`,
    patch({ op: 'add', path, value: '' }, { op: 'Replace', path: 'active', value: 'False' }),
  );
  expect(answer).toMatchObject({ status: 200, body: { active: false, emails: user.emails } });
  const put = { userName: 'emails', active: false, emails: [{ value: '', display: '' }] };
  expect(await scim('PUT', `/Users/${user.id}`, put)).toMatchObject({ status: 200, body: { emails: [] } });
  await scim('DELETE', `/Users/${user.id}`);
});

test.each<[string, object, number, 0 | 1]>([
  ['a removal of an empty list', { op: 'remove', path: 'members', value: [] }, 204, 1],
  ['a replacement by nothing', { op: 'replace', path: 'members' }, 400, 1],
  ['an addition of nothing', { op: 'add', path: 'members', value: null }, 400, 1],
  ['an addition of an empty list', { op: 'add', path: 'members', value: [] }, 204, 1],
  ['a removal of all', { op: 'remove', path: 'members' }, 204, 0],
  ['a replacement by an empty list', { op: 'replace', path: 'members', value: [] }, 204, 0],
])('after %s a group has the members that it says', async (_what, operation, status, left) => {
  const { body: user } = await scim('POST', '/Users', { userName: 'member' });
  const { body: group } = await scim('POST', '/Groups', { displayName: 'of-members', members: [{ value: user.id }] });
  expect((await scim('PATCH', `/Groups/${group.id}`, patch(operation))).status).toBe(status);
  expect((await scim('GET', `/Groups/${group.id}`)).body.members).toHaveLength(left);
  for (const path of [`/Users/${user.id}`, `/Groups/${group.id}`]) await scim('DELETE', path);
});

describe('its token', () => {
  const routes = [
    ...['GET /ServiceProviderConfig', 'GET /ResourceTypes', 'GET /ResourceTypes/User', 'GET /Schemas'],
    ...[`GET /Schemas/${core}:User`, 'GET /Users', 'POST /Users', 'GET /Users/x', 'PUT /Users/x', 'PATCH /Users/x'],
    ...['DELETE /Users/x', 'GET /Groups', 'POST /Groups', 'GET /Groups/x', 'PUT /Groups/x', 'PATCH /Groups/x'],
    ...['DELETE /Groups/x', 'GET /', 'POST /Bulk'],
  ];
  const ordinary = async (person: string) => {
    const command = { type: 'token.create', name: 'ci', scopes: ['read', 'keys', 'write'] };
    const made = await team.call('/execute', { cookie: await team.signIn(person) }, command);
    return (await made.json()).result.secret;
  };
  const credentials: Record<string, () => Promise<Record<string, string>>> = {
    none: async () => ({}),
    'a wrong one': async () => ({ authorization: `Bearer ${token}x` }),
    'one in another scheme': async () => ({
      authorization: `Basic ${Buffer.from(`scim:${token}`).toString('base64')}`,
    }),
    'one that was replaced': async () => {
      const before = token;
      await rotate();
      return { authorization: `Bearer ${before}` };
    },
    'one that was ended': async () => {
      await team.sluice.gateway.execute({ type: 'scim.off' });
      return { authorization: `Bearer ${token}` };
    },
    'an API token of an administrator': async () => {
      await team.sluice.gateway.execute({ type: 'scim.off' });
      const secret = await ordinary('ada');
      await rotate();
      return { authorization: `Bearer ${secret}` };
    },
    'the session of an administrator': async () => ({ cookie: await team.signIn('ada') }),
    'the admin token of the machine': async () => ({ authorization: `Bearer ${team.sluice.adminToken}` }),
    'a key': async () => {
      const { secret } = await team.sluice.gateway.execute({ type: 'key.create', group: 'ours' });
      return { authorization: `Bearer ${secret}` };
    },
  };

  test.each(Object.keys(credentials))('is needed everywhere, in place of %s', async (name) => {
    const headers = (await credentials[name]?.()) ?? {};
    for (const route of routes) {
      const [method = '', path = ''] = route.split(' ');
      const response = await fetch(`${team.sluice.origin}/scim/v2${path}`, { method, headers });
      expect([route, response.status, response.headers.get('www-authenticate')]).toEqual([route, 401, 'Bearer']);
      expect(await response.json()).toMatchObject(refused(401).body);
    }
  });

  test('opens nothing else', async () => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const others = [
      ...['POST /control/execute', 'POST /control/query', 'GET /control/events', 'GET /control/requests.csv'],
      ...['GET /control/requests.jsonl', 'GET /v1/models', 'POST /v1/chat/completions', 'GET /v1/usage'],
    ];
    for (const route of others) {
      const [method = '', path = ''] = route.split(' ');
      const body = method === 'POST' ? JSON.stringify({ type: 'status', model: 'm', messages: [] }) : undefined;
      const response = await fetch(`${team.sluice.origin}${path}`, { method, headers, ...(body && { body }) });
      expect([route, [401, 403].includes(response.status)]).toEqual([route, true]);
    }
    const cookie = await fetch(`${team.sluice.origin}/control/events`, {
      headers: { cookie: `sluice-session=${token}` },
    });
    expect([401, 403]).toContain(cookie.status);
  });

  test('is stored as a hash, and is in no export, entry or answer but the one that makes it', async () => {
    await scim('POST', '/Users', { userName: 'noted', password: ['pass', 'word'].join('-') });
    expect(token).toMatch(/^sls_[\w-]{43}$/);
    const stored = await Promise.all(
      ['people.sqlite', 'people.sqlite-wal'].map((name) =>
        readFile(join(team.sluice.folder, name), 'latin1').catch(() => ''),
      ),
    );
    const { gateway } = team.sluice;
    const answers = await Promise.all([
      gateway.query({ type: 'scim' }),
      gateway.query({ type: 'audit', limit: 1_000 }),
      gateway.query({ type: 'config' }),
    ]);
    const told = [...stored, JSON.stringify(answers), await team.sluice.configText()].join();
    expect(stored[0]?.length).toBeGreaterThan(1_000);
    expect([told.includes(token), told.includes('pass-word')]).toEqual([false, false]);
    expect(answers[0]).toMatchObject({ isOn: true, usedAt: expect.any(Number) });
  });

  test('is not looked for where it cannot be one', async () => {
    const store = openPeopleStore(':memory:');
    let asked = 0;
    const provisioning = new Provisioning({
      ...{
        store,
        publicOrigin: '',
        nowMs: () => 1,
        leave: async () => {},
        endAccess: async () => 0,
        log: { error() {} },
      },
      settings() {
        asked++;
        return null;
      },
    });
    for (const secret of ['', 'x', token.slice(1), `${token}x`, token.replace('sls_', 'slt_')])
      expect([secret, await provisioning.admits(secret), asked]).toEqual([secret, false, 0]);
    expect([await provisioning.admits(token), asked]).toEqual([false, 1]);
    await provisioning.close();
    await store.close();
  });

  test('is used at most so often in a minute, whatever it is', async () => {
    const codes = new Set<number>();
    let wait: string | null = null;
    const tell = async () => {
      const { status, headers } = await fetch(`${team.sluice.origin}/scim/v2/Users`, {
        headers: { authorization: 'Bearer x' },
      });
      wait ??= headers.get('retry-after');
      return status;
    };
    // The minute in which they are counted may change once.
    for (let sent = 0; sent < 7_000 && !codes.has(429); sent += 50)
      for (const code of await Promise.all(Array.from({ length: 50 }, tell))) codes.add(code);
    expect([...codes].sort()).toEqual([401, 429]);
    expect(Number(wait)).toBeGreaterThan(0);
    expect(await scim('GET', '/Users')).toMatchObject(refused(429));
  });
});
