import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { begun } from '../../../support/eventually.ts';
import { clientSecret } from '../../../support/identity-provider.ts';
import { cookieIn, type SignInGateway, startSignInGateway } from './signed-in.ts';

let team: SignInGateway;
beforeAll(async () => {
  team = await startSignInGateway();
});
afterAll(() => team.stop());

const query = async (who: { cookie?: string; token?: string }, type = 'who-am-i') => {
  const response = await team.call('/query', who, { type });
  return { status: response.status, ...(await response.json()) };
};

describe('signing in', () => {
  test('tells the identity provider a challenge, a state and a nonce, and never the client secret', async () => {
    const response = await fetch(`${team.sluice.origin}/control/sign-in`, { redirect: 'manual' });
    const asked = new URL(response.headers.get('location') ?? '').searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      ...{ response_type: 'code', client_id: 'sluice', scope: 'openid profile email', code_challenge_method: 'S256' },
      ...{ code_challenge: expect.any(String), state: expect.any(String), nonce: expect.any(String) },
      redirect_uri: `${team.sluice.origin}/control/signed-in`,
    });
    expect(response.headers.get('set-cookie')).toMatch(/; Path=\/control; .*HttpOnly; SameSite=Lax$/);
  });

  test.each([
    ['ada', { isAdmin: true, manages: [], memberOf: [] }],
    ['mo', { isAdmin: false, manages: ['ours'], memberOf: [] }],
    ['mia', { isAdmin: false, manages: [], memberOf: ['ours'] }],
  ])('makes %s what the groups of the identity provider say', async (name, rights) => {
    const { result } = await query({ cookie: await team.signIn(name) });
    expect(result).toEqual({
      signsIn: true,
      limitUse: [],
      person: { id: expect.stringMatching(/^prs_/), name: `${name} of Acme`, email: `${name}@acme.example`, ...rights },
    });
  });

  test('refuses a person without a role', async () => {
    expect(await team.signIn('nobody')).toBe(`${pendingName()}=`);
    expect(JSON.stringify(await team.sluice.gateway.query({ type: 'people' }))).not.toContain('nobody');
  });

  test('leads a browser back to the window with what went wrong', async () => {
    const headers = { accept: 'text/html' };
    const late = await fetch(`${team.sluice.origin}/control/signed-in?code=a&state=b`, { redirect: 'manual', headers });
    expect([late.status, late.headers.get('location')]).toEqual([303, '/?sign-in=sign_in_failed']);
  });

  test('uses the client secret that its file holds by then', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-sign-in-'));
    const file = join(folder, 'client-secret');
    const { settings } = await team.sluice.gateway.query({ type: 'status' });
    const { people } = settings;
    const change = (reference: string) =>
      team.sluice.gateway.execute({
        type: 'settings.update',
        changes: { people: people && { ...people, clientSecret: reference } },
      });
    writeFileSync(file, 'an earlier one');
    await change(`file:${file}`);
    expect(await team.signIn('ada')).toBe(`${pendingName()}=`);
    writeFileSync(file, clientSecret);
    expect((await query({ cookie: await team.signIn('ada') })).status).toBe(200);
    await change('env:CLIENT_SECRET');
    rmSync(folder, { recursive: true });
  });

  test('takes an answer only in the browser that asked, and only once', async () => {
    const asked = await fetch(`${team.sluice.origin}/control/sign-in`, { redirect: 'manual' });
    const other = await fetch(`${team.sluice.origin}/control/sign-in`, { redirect: 'manual' });
    const back = await team.identity.signIn(asked.headers.get('location') ?? '', 'ada');
    const come = (cookie: string) => fetch(back, { redirect: 'manual', headers: { cookie } });
    expect((await come('')).status).toBe(403);
    expect((await come(cookieIn(other))).status).toBe(403);
    expect((await come(cookieIn(asked))).status).toBe(303);
    expect((await come(cookieIn(asked))).status).toBe(403);
  });
});

const pendingName = () => 'sluice-session-sign-in';

describe('a session', () => {
  test('is stored as a hash, in a file of its own', async () => {
    const [, secret = ''] = (await team.signIn('ada')).split('=');
    expect(secret).toMatch(/^[\w-]{43}$/);
    const stored = await readFile(join(team.sluice.folder, 'people.sqlite'), 'latin1');
    expect(stored).not.toContain(secret);
  });

  test('opens nothing from another page, and nothing as a bearer', async () => {
    const cookie = await team.signIn('ada');
    const send = (headers: Record<string, string>) =>
      fetch(`${team.sluice.origin}/control/query`, {
        method: 'POST',
        body: JSON.stringify({ type: 'who-am-i' }),
        headers: { 'content-type': 'application/json', ...headers },
      });
    expect((await send({ cookie })).status).toBe(403);
    expect((await send({ cookie, origin: 'https://evil.example' })).status).toBe(403);
    expect((await send({ authorization: `Bearer ${cookie.split('=')[1]}` })).status).toBe(401);
    expect((await send({})).status).toBe(401);
  });

  test('ends when it is signed out, and with it its stream', async () => {
    const cookie = await team.signIn('mia');
    const stream = await team.call('/events', { cookie });
    expect(stream.status).toBe(200);
    expect((await team.call('/sign-out', { cookie }, {})).status).toBe(200);
    await begun(stream.text());
    expect(await query({ cookie })).toMatchObject({ status: 401, error: { code: 'not_signed_in' } });
  });

  test('ends everywhere at once when an administrator signs the person out', async () => {
    const [ada, one, other] = [await team.signIn('ada'), await team.signIn('mia'), await team.signIn('mia')];
    const { result } = await query({ cookie: one });
    const stream = await team.call('/events', { cookie: other });
    const answer = await team.call('/execute', { cookie: ada }, { type: 'person.sign-out', id: result.person.id });
    expect((await answer.json()).result.ended).toBeGreaterThanOrEqual(2);
    await begun(stream.text());
    expect([(await query({ cookie: one })).status, (await query({ cookie: other })).status]).toEqual([401, 401]);
    expect((await query({ cookie: ada })).status).toBe(200);
  });

  test('has the rights of the current mapping, and none once that no longer names the person', async () => {
    const cookie = await team.signIn('mo');
    const { settings } = await team.sluice.gateway.query({ type: 'status' });
    const { people } = settings;
    if (!people) throw new Error('nobody signs in');
    const onlyAdmins = people.roles.filter(({ role }) => role === 'admin');
    await team.sluice.gateway.execute({
      type: 'settings.update',
      changes: { people: { ...people, roles: onlyAdmins } },
    });
    expect((await query({ cookie })).status).toBe(401);
    await team.sluice.gateway.execute({ type: 'settings.update', changes: { people } });
    expect((await query({ cookie })).status).toBe(200);
  });

  test('does not depend on how the settings write the address of the identity provider', async () => {
    const { people } = (await team.sluice.gateway.query({ type: 'status' })).settings;
    if (!people) throw new Error('nobody signs in');
    const written = { ...people, issuer: `${people.issuer}/` };
    await team.sluice.gateway.execute({ type: 'settings.update', changes: { people: written } });
    expect((await query({ cookie: await team.signIn('mia') })).status).toBe(200);
    const elsewhere = { ...people, issuer: `${people.issuer}/other` };
    const cookie = await team.signIn('mia');
    await team.sluice.gateway.execute({ type: 'settings.update', changes: { people: elsewhere } });
    expect((await query({ cookie })).status).toBe(401);
    await team.sluice.gateway.execute({ type: 'settings.update', changes: { people } });
  });
});

describe('local access', () => {
  test('is closed to browsers: no address opens the window', async () => {
    expect(team.sluice.gateway.createAdminUrl()).toBe(team.sluice.origin);
    const response = await fetch(`${team.sluice.origin}/control/session?token=any`, { redirect: 'manual' });
    expect([response.status, response.headers.get('set-cookie')]).toEqual([401, null]);
  });

  test('is open for the command line of the machine', async () => {
    expect(await query({ token: team.sluice.adminToken })).toMatchObject({ status: 200, result: { person: null } });
  });
});

describe('the audit list', () => {
  test('says who has changed what, and holds no secret', async () => {
    const cookie = await team.signIn('mia');
    const made = await team.call('/execute', { cookie }, { type: 'key.create', group: 'ours', name: 'Laptop' });
    const { key, secret } = (await made.json()).result;
    await team.call('/execute', { cookie }, { type: 'key.update', id: key.id, changes: { name: 'Desk' } });
    const { result } = await query({ cookie: await team.signIn('ada') }, 'audit');
    const [, changed, created] = result.entries;
    expect(created).toMatchObject({
      ...{ personName: 'mia of Acme', address: '127.0.0.1', tokenId: null, action: 'key.create', target: key.id },
      changes: [{ part: 'key', name: key.id, kind: 'added' }],
    });
    expect(changed).toMatchObject({
      action: 'key.update',
      changes: [{ name: key.id, fields: [{ name: 'name', before: '"Laptop"', after: '"Desk"' }] }],
    });
    expect(JSON.stringify(result)).not.toContain(secret);
    expect((await query({ cookie }, 'audit')).status).toBe(403);
  });
});
