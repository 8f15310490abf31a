import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SignInGateway, startSignInGateway } from './signed-in.ts';

let team: SignInGateway;
beforeAll(async () => {
  team = await startSignInGateway();
});
afterAll(() => team.stop());

const send = async (path: string, who: { cookie?: string; token?: string }, body: object) => {
  const response = await team.call(path, who, body);
  return { status: response.status, ...(await response.json()) };
};

const createToken = async (cookie: string, scopes: string[]) =>
  (await send('/execute', { cookie }, { type: 'token.create', name: 'pipeline', scopes })).result;

test('an API token does what its person may, within its scopes, and ends when it is revoked', async () => {
  const cookie = await team.signIn('mia');
  const { id, secret } = await createToken(cookie, ['keys']);
  expect(secret).toMatch(/^slt_[\w-]{43}$/);
  const made = await send('/execute', { token: secret }, { type: 'key.create', group: 'ours' });
  expect(made.result.key.owner).toMatch(/^prs_/);
  expect((await send('/query', { token: secret }, { type: 'keys' })).status).toBe(403);
  expect((await send('/execute', { token: secret }, { type: 'cassette.rewind' })).status).toBe(403);
  await send('/execute', { cookie }, { type: 'token.revoke', id });
  expect((await send('/execute', { token: secret }, { type: 'key.create', group: 'ours' })).status).toBe(401);
});

test('an API token makes no token that may do more', async () => {
  const cookie = await team.signIn('ada');
  const { secret } = await createToken(cookie, ['write']);
  const wider = { type: 'token.create', name: 'wider', scopes: ['read', 'write'] };
  expect((await send('/execute', { token: secret }, wider)).status).toBe(403);
});

test('one sees and revokes one’s own tokens; an administrator those of all', async () => {
  const [mia, mo, ada] = [await team.signIn('mia'), await team.signIn('mo'), await team.signIn('ada')];
  const { id } = await createToken(mia, ['read']);
  const tokensOf = async (cookie: string): Promise<{ id: string }[]> =>
    (await send('/query', { cookie }, { type: 'tokens' })).result;
  const seen = await Promise.all(
    [mia, mo, ada].map(async (cookie) => (await tokensOf(cookie)).some((each) => each.id === id)),
  );
  expect(seen).toEqual([true, false, true]);
  expect((await send('/execute', { cookie: mo }, { type: 'token.revoke', id })).status).toBe(404);
  expect((await send('/execute', { cookie: ada }, { type: 'token.revoke', id })).status).toBe(200);
});

test('a command line is let in by a code that its person enters at the identity provider', async () => {
  const { result: device } = await send('/device', {}, {});
  expect(device).toMatchObject({ userCode: expect.any(String), verificationUri: expect.stringContaining('/device') });
  const ask = () => send('/device/token', {}, { deviceCode: device.deviceCode, name: 'mias-laptop' });
  expect(await ask()).toEqual({ status: 200, result: null });
  await team.identity.agree(device.verificationUriComplete, 'mia');
  const { result } = await ask();
  expect(result.person.name).toBe('mia of Acme');
  expect((await send('/query', { token: result.token }, { type: 'keys' })).status).toBe(200);
  expect(await ask()).toMatchObject({ status: 403, error: { code: 'sign_in_failed' } });
});
