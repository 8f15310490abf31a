/** The commands with which a laptop joins and leaves a team's gateway, with two real engines. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlGateway, refusalOf, startControlGateway } from '../../control/control-gateway.ts';
import { type SignInGateway, startSignInGateway } from '../people/signed-in.ts';

let team: SignInGateway;
let laptop: ControlGateway;
beforeAll(async () => {
  team = await startSignInGateway({
    settings: { demo: 'on' },
    config: { groups: [{ id: 'default' }, { id: 'ours' }, { id: 'more', name: 'More' }] },
  });
  laptop = await startControlGateway();
});
afterAll(async () => {
  await laptop.stop();
  await team.stop();
});

const begin = () => laptop.gateway.execute({ type: 'team.join', url: `${team.sluice.origin}/anything` });
const finish = (id: string, group?: string) =>
  laptop.gateway.execute({ type: 'team.finish-join', id, ...(group !== undefined && { group }) });
const keysThere = async () => (await team.sluice.gateway.query({ type: 'keys' })).filter(({ owner }) => owner !== null);
const providersHere = async () => (await laptop.gateway.query({ type: 'providers' })).filter(({ isDemo }) => !isDemo);

test('a person confirms a code, and the gateway is a provider with a key of their own, until they leave', async () => {
  const begun = await begin();
  expect(begun).toMatchObject({ origin: team.sluice.origin, signIn: { code: expect.any(String) } });
  expect(await finish(begun.id)).toEqual({ state: 'waiting' });
  await team.identity.agree(begun.signIn?.url ?? '', 'mia');
  // Two concurrent calls create one key.
  const [joined] = await Promise.all([finish(begun.id), refusalOf(finish(begun.id))]);
  expect(joined).toMatchObject({ state: 'joined', group: 'ours' });
  const [key] = await keysThere();
  const [provider] = await providersHere();
  expect(provider).toMatchObject({ joined: true, baseUrl: `${team.sluice.origin}/v1`, credentials: [{ id: key?.id }] });
  expect(await keysThere()).toHaveLength(1);
  const test = await laptop.gateway.query({ type: 'provider-test', id: provider?.id ?? '' });
  expect(test.ok).toBe(true);

  expect(await refusalOf(begin())).toMatchObject({ code: 'conflict', problem: { code: 'joined-already' } });
  await laptop.gateway.execute({ type: 'team.leave', provider: provider?.id ?? '' });
  expect([await keysThere(), await providersHere()]).toEqual([[], []]);
  // The sign-in was deleted as well, so joining again requires a new code.
  expect((await begin()).signIn).not.toBeNull();
});

test('who is in several groups chooses one, and nothing is made before', async () => {
  const begun = await begin();
  await team.identity.agree(begun.signIn?.url ?? '', 'ada');
  const now = await finish(begun.id);
  expect(now).toMatchObject({ state: 'choosing', groups: expect.arrayContaining([{ id: 'more', name: 'More' }]) });
  expect(await keysThere()).toEqual([]);
  expect(await refusalOf(finish(begun.id, 'nowhere'))).toMatchObject({ code: 'not_found' });
  const joined = await finish(begun.id, 'more');
  expect(joined).toMatchObject({ state: 'joined', group: 'more' });
  await laptop.gateway.execute({ type: 'team.leave', provider: 'provider' in joined ? joined.provider : '' });
});

test('where the provider cannot be added, no key stays behind', async () => {
  const begun = await begin();
  await team.identity.agree(begun.signIn?.url ?? '', 'mia');
  const preset = {
    ...{ teamPreset: 1, name: 'Locked', organisation: 'Acme', providers: [], locked: ['providers'] },
  } as const;
  await laptop.gateway.execute({ type: 'team-preset.apply', preset });
  expect(await refusalOf(finish(begun.id))).toMatchObject({ code: 'locked' });
  expect(await keysThere()).toEqual([]);
  expect(await providersHere()).toEqual([]);
  await laptop.gateway.execute({ type: 'team-preset.leave' });
});

test('who is no longer signed in there leaves all the same, and is told that the key stays', async () => {
  const begun = await begin();
  await team.identity.agree(begun.signIn?.url ?? '', 'mia');
  const joined = await finish(begun.id);
  const [key] = await keysThere();
  const [mia] = (await team.sluice.gateway.query({ type: 'people' })).filter(({ name }) => name === 'mia of Acme');
  await team.sluice.gateway.execute({ type: 'person.sign-out', id: mia?.id ?? '' });
  const left = await laptop.gateway.execute({
    type: 'team.leave',
    provider: 'provider' in joined ? joined.provider : '',
  });
  expect([left, await providersHere()]).toEqual([{ keyEnded: false, presetLeft: false }, []]);
  await team.sluice.gateway.execute({ type: 'key.revoke', id: key?.id ?? '' });
});

test('while the gateway is out of reach, nothing is taken away', async () => {
  const other = await startSignInGateway();
  const begun = await laptop.gateway.execute({ type: 'team.join', url: other.sluice.origin });
  await other.identity.agree(begun.signIn?.url ?? '', 'mia');
  const joined = await finish(begun.id);
  const provider = 'provider' in joined ? joined.provider : '';
  await other.stop();
  const refused = await refusalOf(laptop.gateway.execute({ type: 'team.leave', provider }));
  expect(refused).toMatchObject({ problem: { code: 'gateway-away' } });
  expect(await providersHere()).toHaveLength(1);
  await laptop.gateway.execute({ type: 'provider.remove', id: provider });
});

test('what answers in the form of a gateway, but with other contents, is said in words', async () => {
  const other = createServer((_, response) => response.end('{"result":{"url":"not a sign-in"}}')).listen(
    0,
    '127.0.0.1',
  );
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' ? address?.port : null;
  const refused = await refusalOf(laptop.gateway.execute({ type: 'team.join', url: `http://127.0.0.1:${port}` }));
  other.close();
  expect(refused).toMatchObject({ code: 'upstream_malformed', problem: { code: 'gateway-not-sluice' } });
});

test('what is no gateway, and a code that nobody asked for, are said in words', async () => {
  const join = (url: string) => refusalOf(laptop.gateway.execute({ type: 'team.join', url }));
  expect(await join('http://gateway.example')).toMatchObject({ problem: { code: 'gateway-address-wrong' } });
  expect(await join(team.identity.issuer)).toMatchObject({ problem: { code: 'gateway-not-sluice' } });
  expect(await join(laptop.origin)).toMatchObject({ problem: { code: 'gateway-not-sluice' } });
  expect(await refusalOf(finish('3f333df6-90a4-4fda-8dd3-9485d27cee36'))).toMatchObject({
    problem: { code: 'joining-expired' },
  });
});
