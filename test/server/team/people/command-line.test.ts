import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLogins } from '../../../../server/team/joining/logins.ts';
import {
  createTeamGateway,
  gatewayOrigin,
  pollToken,
  requestDeviceCode,
} from '../../../../server/team/joining/team-gateway.ts';
import { runVerb } from '../../cli/run-cli.ts';
import { type SignInGateway, startSignInGateway } from './signed-in.ts';

let team: SignInGateway;
let folder: string;
beforeAll(async () => {
  team = await startSignInGateway();
  folder = await mkdtemp(join(tmpdir(), 'sluice-login-'));
});
afterAll(async () => {
  await team.stop();
  await rm(folder, { recursive: true, force: true });
});

/** As `sluice login` does, after the person has confirmed. */
async function logIn(person: string): Promise<string> {
  const { origin } = team.sluice;
  const { deviceCode, verificationUriComplete } = await requestDeviceCode(fetch, origin);
  await team.identity.agree(verificationUriComplete ?? '', person);
  return (await pollToken(fetch, origin, { deviceCode, name: 'laptop' }))?.token ?? '';
}

const run = (parameters: string[], options: { input?: string; token?: string } = {}) =>
  runVerb([...parameters, '--data-dir', folder, '--gateway', team.sluice.origin], {
    input: options.input ?? '',
    env: options.token === undefined ? {} : { SLUICE_TOKEN: options.token },
  });

test('who has signed in uses the team gateway, until they sign out', async () => {
  const { origin } = team.sluice;
  expect((await run(['key', 'list'])).stderr).toContain(`Run "sluice login ${origin}"`);
  const logins = openLogins(folder, { prefer: 'file' });
  await logins.keep(origin, await logIn('mia'));
  expect((await run(['key', 'create', '--group', 'ours', '--name', 'Laptop'])).code).toBe(0);
  expect((await run(['key', 'list'])).stdout).toContain('Laptop');
  expect((await run(['provider', 'list'])).stderr).toContain('not allowed');
  const out = await runVerb(['logout', origin, '--data-dir', folder]);
  expect(out.stdout).toContain(`Signed out of ${origin}`);
  expect((await run(['key', 'list'])).code).toBe(1);
});

test('a member sees their own usage, and a manager that of the group', async () => {
  const [mia, mo] = [await logIn('mia'), await logIn('mo')];
  const created = await run(['key', 'create', '--group', 'ours', '--name', 'Usage', '--json'], { token: mia });
  const { secret, id } = JSON.parse(created.stdout);
  const body = JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] });
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const url = `${team.sluice.origin}/v1/chat/completions`;
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200);
  for (const token of [mia, mo]) {
    for (const by of ['day', 'model', 'provider', 'key']) {
      const shown = await run(['usage', '--by', by, '--json'], { token });
      expect(JSON.parse(shown.stdout), shown.stderr).toMatchObject([{ requests: 1 }]);
    }
    expect((await run(['usage'], { token })).stdout).toMatch(/^DAY +REQUESTS/);
  }
  const byGroup = async (token: string) =>
    JSON.parse((await run(['usage', '--by', 'group', '--json'], { token })).stdout);
  expect([await byGroup(mia), await byGroup(mo)]).toMatchObject([[], [{ name: 'ours', requests: 1 }]]);
  await run(['key', 'revoke', id, '--yes'], { token: mia });
});

test('a laptop joins a team gateway: a key of its own there, a provider here; leaving takes both away', async () => {
  const { origin } = team.sluice;
  const logins = openLogins(folder, { prefer: 'file' });
  await logins.keep(origin, await logIn('mia'));
  const here = (...parameters: string[]) => runVerb([...parameters, '--data-dir', folder]);
  const joined = await here('join', origin, '--json');
  const { provider, key } = JSON.parse(joined.stdout);
  expect((await here('join', origin)).stderr).toContain('already');
  const [added] = JSON.parse((await here('provider', 'list', '--json')).stdout);
  expect(added).toMatchObject({ id: provider, baseUrl: `${origin}/v1`, credentials: [{ id: key, hasSecret: true }] });
  const keyThere = async () => (await team.sluice.gateway.query({ type: 'keys' })).find(({ id }) => id === key);
  expect(await keyThere()).toMatchObject({ group: 'ours', owner: expect.stringMatching(/^prs_/), canReveal: false });
  expect((await here('leave', origin)).stdout).toContain(`Left ${origin}`);
  expect(await keyThere()).toBeUndefined();
  expect((await here('provider', 'list', '--json')).stdout).not.toContain(origin);
  expect(await logins.find(origin)).toBeUndefined();
});

const declared = (more: object) =>
  JSON.stringify({
    teamPreset: 1,
    name: 'Team',
    organisation: 'Acme',
    groups: [{ id: 'ours', deny: ['*-preview'] }],
    ...more,
  });

test('a pipeline declares the configuration with an API token, and can look first', async () => {
  const token = await logIn('ada');
  const dry = await run(['apply', '-f', '-', '--dry-run'], { input: declared({}), token });
  expect(dry.stdout).toContain('changed group ours');
  const groups = () => team.sluice.gateway.query({ type: 'groups' });
  expect((await groups()).find(({ id }) => id === 'ours')?.deny).toEqual([]);
  expect((await run(['apply', '-f', '-', '--yes'], { input: declared({}), token })).code).toBe(0);
  expect((await groups()).find(({ id }) => id === 'ours')?.deny).toEqual(['*-preview']);
  expect((await run(['apply', '-f', '-'], { input: declared({}), token })).stdout).toContain('changes nothing');
  const locking = await run(['apply', '-f', '-', '--yes'], {
    input: declared({ groups: [{ id: 'ours', deny: [] }], locked: ['groups'] }),
    token,
  });
  expect(locking.stderr).toContain('leave out "locked"');
});

test('events of a team gateway are told as they come, and a stream that is refused is said to be', async () => {
  const { origin } = team.sluice;
  const events = await createTeamGateway(fetch, origin, await logIn('mia')).openEvents();
  for await (const { event } of events) {
    expect(event.type).toBe('snapshot');
    break;
  }
  await expect(createTeamGateway(fetch, origin, 'slt_unknown').openEvents()).rejects.toThrow(
    'This API token is unknown',
  );
});

test('nobody but an administrator declares the configuration', async () => {
  const refused = await run(['apply', '-f', '-', '--yes'], { input: declared({}), token: await logIn('mo') });
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('not allowed')]);
});

test.each(['http://gateway.example', 'gateway.example', 'ftp://gateway.example'])(
  'no token is sent to %s',
  (address) => {
    expect(() => gatewayOrigin(address)).toThrow('is no address of a gateway');
  },
);
