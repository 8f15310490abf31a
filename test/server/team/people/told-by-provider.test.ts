/** Where people sign in, the identity provider keeps telling of them: by refresh tokens, and by its back-channel logout. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openEncryptedFile } from '../../../../server/secrets/encrypted-file.ts';
import { openPeopleStore } from '../../../../server/store/sqlite/people-store.ts';
import { personIdOf } from '../../../../server/team/people/people-service.ts';
import { begun, eventually } from '../../../support/eventually.ts';
import { type SignInGateway, startSignInGateway } from './signed-in.ts';

describe('a refresh token', () => {
  const passphrase = 'of the test';
  const secretsIn = async (given: string | undefined) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-refresh-'));
    const secrets = await openEncryptedFile(folder, given);
    const gateway = await startSignInGateway({ refreshTokens: true, ports: { openSecrets: async () => secrets } });
    const stop = async () => {
      await gateway.stop();
      rmSync(folder, { recursive: true });
    };
    return { folder, secrets, gateway, stop };
  };
  const idOf = (gateway: SignInGateway, name: string) => personIdOf(gateway.identity.issuer, name);

  test('is stored only encrypted with the passphrase, and is in no file, export or answer', async () => {
    const { folder, secrets, gateway, stop } = await secretsIn(passphrase);
    const cookie = await gateway.signIn('ada');
    const token = (await secrets.get(`people/refresh/${idOf(gateway, 'ada')}`)) ?? '';
    expect(token).toMatch(/^.{20,}$/);
    const types = ['config', 'status', 'people', 'tokens', 'audit', 'who-am-i'];
    const asked = [
      ...types.map((type) => gateway.call('/query', { cookie }, { type })),
      ...['/requests.csv', '/requests.jsonl'].map((path) => gateway.call(path, { cookie })),
    ];
    const answers = await Promise.all(asked.map(async (answer) => (await answer).text()));
    const files = [gateway.sluice.folder, folder].flatMap((each) =>
      readdirSync(each, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')),
    );
    expect(answers[2]).toContain('"isChecked":true');
    expect(files.length).toBeGreaterThan(3);
    for (const text of [...answers, ...files]) expect(text).not.toContain(token);
    await stop();
  });

  test('is not stored where a copy of the folder would open it', async () => {
    const { folder, secrets, gateway, stop } = await secretsIn(undefined);
    const cookie = await gateway.signIn('ada');
    const answer = await gateway.call('/query', { cookie }, { type: 'people' });
    expect((await answer.json()).result).toMatchObject([{ isChecked: false }]);
    expect([await secrets.list(), readdirSync(folder)]).toEqual([[], []]);
    await stop();
  });

  test('that tells of somebody who has left revokes their keys', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { gateway, stop } = await secretsIn(passphrase);
    const cookie = await gateway.signIn('mia');
    await gateway.call('/execute', { cookie }, { type: 'key.create', group: 'ours', keepSecret: false });
    const owners = async () => {
      const keys = await gateway.sluice.gateway.query({ type: 'keys' });
      return keys.map(({ owner }) => owner).filter((owner) => owner !== null);
    };
    expect(await owners()).toEqual([idOf(gateway, 'mia')]);
    gateway.identity.groups.set('mia', []);
    const store = openPeopleStore(join(gateway.sluice.folder, 'people.sqlite'));
    for (const person of await store.listPeople()) await store.keepPerson({ ...person, checkDueAt: 0 });
    await store.close();
    vi.advanceTimersByTime(30_000);
    await eventually(async () => (await owners()).length === 0);
    expect((await gateway.call('/query', { cookie }, { type: 'who-am-i' })).status).toBe(401);
    await stop();
  });
});

describe('the logout of the identity provider', () => {
  let team: SignInGateway;
  beforeAll(async () => {
    team = await startSignInGateway();
  });
  afterAll(() => team.stop());

  const statusFor = async (who: { cookie?: string; token?: string }) =>
    (await team.call('/query', who, { type: 'who-am-i' })).status;
  const logOut = (body: string, type = 'application/x-www-form-urlencoded') =>
    fetch(`${team.sluice.origin}/control/backchannel-logout`, {
      ...{ method: 'POST', body, headers: { 'content-type': type } },
    });
  const tell = (token: string) => logOut(new URLSearchParams({ logout_token: token }).toString());

  test('ends the sessions of a person’s browsers and their streams, without a cookie or token of Sluice', async () => {
    const [mia, ada] = [await team.signIn('mia'), await team.signIn('ada')];
    const created = await team.call(
      '/execute',
      { cookie: mia },
      { type: 'token.create', name: 'ci', scopes: ['read'] },
    );
    const { secret: token } = (await created.json()).result;
    const stream = await team.call('/events', { cookie: mia });
    const response = await tell(team.identity.logoutToken('mia'));
    expect([response.status, await response.text(), response.headers.get('cache-control')]).toEqual([
      200,
      '',
      'no-store',
    ]);
    await begun(stream.text());
    const statuses = [{ cookie: mia }, { cookie: ada }, { token }].map(statusFor);
    expect(await Promise.all(statuses)).toEqual([401, 200, 200]);
  });

  test('is refused if the token has come before', async () => {
    const token = team.identity.logoutToken('mia');
    expect((await tell(token)).status).toBe(200);
    // A change of the configuration makes it forget nothing.
    await team.sluice.gateway.execute({ type: 'settings.update', changes: { metrics: 'on' } });
    const cookie = await team.signIn('mia');
    const again = await tell(token);
    expect([again.status, await again.json()]).toEqual([400, { error: 'invalid_request' }]);
    expect(await statusFor({ cookie })).toBe(200);
  });

  test.each<[string, () => Promise<Response>, number]>([
    ['of another issuer', () => tell(team.identity.logoutToken('mia', { iss: 'https://other.example' })), 400],
    ['for another client', () => tell(team.identity.logoutToken('mia', { aud: 'other' })), 400],
    ['without the event', () => tell(team.identity.logoutToken('mia', { events: {} })), 400],
    ['with a nonce', () => tell(team.identity.logoutToken('mia', { nonce: 'n' })), 400],
    ['without an id', () => tell(team.identity.logoutToken('mia', { jti: undefined })), 400],
    [
      'with a signature of somebody else',
      () => tell(team.identity.logoutToken('mia').replace(/\.[^.]*$/, '.c2ln')),
      400,
    ],
    ['that is none', () => tell('x'), 400],
    ['twice', () => logOut(`logout_token=${team.identity.logoutToken('mia')}&logout_token=x`), 400],
    [
      'in no form',
      () => logOut(JSON.stringify({ logout_token: team.identity.logoutToken('mia') }), 'application/json'),
      400,
    ],
    ['in a form that is too long', () => tell('x'.repeat(9_000)), 413],
  ])('is refused with a token %s', async (_what, send, status) => {
    const cookie = await team.signIn('mia');
    expect((await send()).status).toBe(status);
    expect(await statusFor({ cookie })).toBe(200);
  });

  test('is limited by address, apart from sign-ins', async () => {
    const codes = new Set<number>();
    // The minute in which they are counted may change once.
    for (let sent = 0; sent < 2_500 && !codes.has(429); sent += 50)
      for (const code of await Promise.all(Array.from({ length: 50 }, async () => (await tell('x')).status)))
        codes.add(code);
    expect([...codes].sort()).toEqual([400, 429]);
    expect(await statusFor({ cookie: await team.signIn('mia') })).toBe(200);
  });
});
