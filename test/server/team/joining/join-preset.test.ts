/** The team preset that a team's gateway offers to laptops that join it, with two real engines. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ManagedPreset } from '../../../../server/config/managed-preset.ts';
import { openTeamMemory } from '../../../../server/config/team-memory.ts';
import type { JoinState, TeamPreset } from '../../../../server/contract/team-preset.ts';
import { findJoinPreset } from '../../../../server/team/joining/join-service.ts';
import { openLogins } from '../../../../server/team/joining/logins.ts';
import { createTeamGateway, pollToken, requestDeviceCode } from '../../../../server/team/joining/team-gateway.ts';
import { runVerb } from '../../cli/run-cli.ts';
import {
  type ControlGateway,
  type ControlGatewayOptions,
  refusalOf,
  startControlGateway,
} from '../../control/control-gateway.ts';
import { type SignInGateway, startSignInGateway } from '../people/signed-in.ts';

type Joined = Extract<JoinState, { state: 'joined' }>;

let team: SignInGateway;
let laptops: ControlGateway[] = [];
beforeAll(async () => {
  team = await startSignInGateway({ settings: { demo: 'on' } });
});
afterEach(async () => {
  for (const laptop of laptops) await laptop.stop();
  laptops = [];
});
afterAll(() => team.stop());

async function openLaptop(options: ControlGatewayOptions = {}): Promise<ControlGateway> {
  const laptop = await startControlGateway(options);
  laptops.push(laptop);
  return laptop;
}

const gatewayId = () => new URL(team.sluice.origin).host.replace(/[.:]/g, '-');
/** Contains an alias to the gateway, as a team would write it. */
const preset = (more: Partial<TeamPreset> = {}): TeamPreset => ({
  ...{ teamPreset: 1, name: 'Acme laptops', organisation: 'Acme' },
  aliases: [{ name: 'fast', targets: [{ provider: gatewayId(), model: 'demo-chat' }] }],
  settings: { ledger: { retentionDays: 30 } },
  locked: ['aliases', 'settings/ledger'],
  ...more,
});
const offer = (joinPreset: object | null) =>
  team.sluice.gateway.execute({ type: 'settings.update', changes: { joinPreset: joinPreset && { ...joinPreset } } });

async function joinAs({ gateway }: ControlGateway, person: string): Promise<Joined> {
  const begun = await gateway.execute({ type: 'team.join', url: team.sluice.origin });
  await team.identity.agree(begun.signIn?.url ?? '', person);
  const joined = await gateway.execute({ type: 'team.finish-join', id: begun.id });
  if (joined.state !== 'joined') throw new Error(`not joined: ${joined.state}`);
  return joined;
}

const inForce = async ({ gateway }: ControlGateway) => (await gateway.query({ type: 'status' })).team.presets;
const aliasNames = async ({ gateway }: ControlGateway) =>
  (await gateway.query({ type: 'aliases' })).map(({ name }) => name);

test('the preset is offered, applied once the person has seen it, and left with the gateway', async () => {
  await offer(preset());
  const laptop = await openLaptop();
  const joined = await joinAs(laptop, 'mia');
  expect(joined.preset).toEqual({ state: 'offered', preset: preset() });
  expect([await inForce(laptop), await aliasNames(laptop)]).toEqual([[], []]);

  const { gateway } = laptop;
  const preview = await gateway.query({ type: 'team-preset-preview', preset: preset() });
  expect(preview.changes.map(({ name }) => name)).toEqual(['fast', 'ledger.retentionDays']);
  await gateway.execute({ type: 'team-preset.apply', preset: preset(), joined: joined.provider });
  expect(await inForce(laptop)).toMatchObject([{ source: 'imported', gateway: team.sluice.origin }]);
  const shorter = () => gateway.execute({ type: 'settings.update', changes: { ledger: { retentionDays: 1 } } });
  expect(await refusalOf(shorter())).toMatchObject({ code: 'locked' });

  const left = await gateway.execute({ type: 'team.leave', provider: joined.provider });
  expect(left).toEqual({ keyEnded: true, presetLeft: true });
  expect([await inForce(laptop), await aliasNames(laptop)]).toEqual([[], []]);
  await shorter();
});

test('who declines has joined without it', async () => {
  await offer(preset());
  const laptop = await openLaptop();
  const { provider } = await joinAs(laptop, 'mia');
  expect(await inForce(laptop)).toEqual([]);
  expect(await laptop.gateway.execute({ type: 'team.leave', provider })).toMatchObject({ presetLeft: false });
});

test('a preset that was imported since then stays when the gateway is left', async () => {
  await offer(preset());
  const laptop = await openLaptop();
  const { gateway } = laptop;
  const { provider } = await joinAs(laptop, 'mia');
  await gateway.execute({ type: 'team-preset.apply', preset: preset(), joined: provider });
  const another: TeamPreset = { teamPreset: 1, name: 'Another', organisation: 'Else' };
  await gateway.execute({ type: 'team-preset.apply', preset: another });
  // Its alias no longer belongs to a preset, but still leads to the gateway.
  const leave = () => gateway.execute({ type: 'team.leave', provider });
  expect(await refusalOf(leave())).toMatchObject({ problem: { code: 'provider-in-use' } });
  await gateway.execute({ type: 'alias.remove', name: 'fast' });
  expect(await leave()).toMatchObject({ presetLeft: false });
  expect(await inForce(laptop)).toMatchObject([{ name: 'Another' }]);
});

test('a managed machine is told that its own preset counts, and one without a preset nothing', async () => {
  const policy: TeamPreset = { teamPreset: 1, name: 'Policy', organisation: 'Acme' };
  const current: ManagedPreset = {
    ...{ source: 'policy', path: '/etc/sluice/policy.json', removed: [] },
    ...{ preset: policy, written: policy },
  };
  const managed = { current, refresh: () => false };
  const memory = openTeamMemory(null, () => {});
  const laptop = await openLaptop({ ports: { team: { managed, memory } } });
  for (const [offered, state] of [
    [preset(), 'managed'],
    [null, 'none'],
  ] as const) {
    await offer(offered);
    const joined = await joinAs(laptop, 'mia');
    expect(joined.preset).toEqual({ state });
    await laptop.gateway.execute({ type: 'team.leave', provider: joined.provider });
  }
});

test('the setting takes only what a laptop can import, and replaces an earlier preset as a whole', async () => {
  await offer(preset());
  const secret = { id: 'a', baseUrl: 'https://a.example/v1', headers: { authorization: 'Bearer one' } };
  const wrong: [object, RegExp][] = [
    [{ name: 'Acme' }, /"teamPreset" is missing/],
    [preset({ providers: [secret] }), /secret/],
    [preset({ settings: { host: '0.0.0.0' }, locked: [] }), /"host"/],
    [preset({ contact: 'a'.repeat(70_000) }), /64 kB/],
  ];
  for (const [each, said] of wrong) {
    expect(await refusalOf(offer(each))).toMatchObject({ code: 'invalid_value', message: expect.stringMatching(said) });
  }
  const declared = (joinPreset: object): TeamPreset => ({
    ...{ teamPreset: 1, name: 'Team', organisation: 'Acme' },
    settings: { joinPreset: { ...joinPreset } },
  });
  const first = { type: 'team-preset-preview', as: 'managed', preset: declared({ name: 'Acme' }) } as const;
  expect(await refusalOf(team.sluice.gateway.query(first))).toMatchObject({ code: 'invalid_value' });
  const smaller = { teamPreset: 1, name: 'Smaller', organisation: 'Acme' };
  await team.sluice.gateway.execute({ type: 'config.apply', preset: declared(smaller) });
  expect(await team.sluice.gateway.query({ type: 'join-preset' })).toEqual({ preset: smaller });
});

test('a gateway of another version keeps nobody from joining', async () => {
  const answering = (answer: object) => createTeamGateway(async () => Response.json(answer), team.sluice.origin, 'any');
  const newer = answering({ result: { preset: { ...preset(), teamPreset: 2 } } });
  expect(await findJoinPreset(newer, false)).toMatchObject({ state: 'unusable' });
  const unknown = await team.call('/query', { token: await logIn('mia') }, { type: 'not-known-there' });
  expect(await findJoinPreset(answering(await unknown.json()), false)).toEqual({ state: 'none' });
});

/** As `sluice login` does, after the person has confirmed. */
async function logIn(person: string): Promise<string> {
  const { deviceCode, verificationUriComplete } = await requestDeviceCode(fetch, team.sluice.origin);
  await team.identity.agree(verificationUriComplete ?? '', person);
  return (await pollToken(fetch, team.sluice.origin, { deviceCode, name: 'laptop' }))?.token ?? '';
}

test('in a terminal "--yes" applies it, and without one that could be asked it is not applied', async () => {
  await offer(preset());
  const folder = await mkdtemp(join(tmpdir(), 'sluice-join-preset-'));
  const { origin } = team.sluice;
  const here = (...parameters: string[]) => runVerb([...parameters, '--data-dir', folder]);
  const signIn = async () => openLogins(folder, { prefer: 'file' }).keep(origin, await logIn('mia'));
  try {
    await signIn();
    const joined = await here('join', origin);
    expect(joined.stderr).toContain('added alias fast');
    expect(joined.stdout).toContain('is not applied: without a terminal nobody can be asked');
    await here('leave', origin);
    await signIn();
    const again = await here('join', origin, '--yes', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ provider: gatewayId(), preset: 'applied' });
    expect((await here('alias', 'remove', 'fast', '--yes')).stderr).toContain('Acme');
    expect((await here('leave', origin)).stdout).toContain('Its team preset no longer locks anything.');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
