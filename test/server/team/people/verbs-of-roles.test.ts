/** What each verb answers a member, a manager and an administrator of a team gateway. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pollToken, requestDeviceCode } from '../../../../server/team/joining/team-gateway.ts';
import { runVerb } from '../../cli/run-cli.ts';
import { type SignInGateway, startSignInGateway } from './signed-in.ts';

const people = ['mia', 'mo', 'ada'];
let team: SignInGateway;
let folder: string;
const tokens: Record<string, string> = {};
beforeAll(async () => {
  team = await startSignInGateway();
  folder = await mkdtemp(join(tmpdir(), 'sluice-roles-'));
  for (const person of people) {
    const { origin } = team.sluice;
    const { deviceCode, verificationUriComplete } = await requestDeviceCode(fetch, origin);
    await team.identity.agree(verificationUriComplete ?? '', person);
    tokens[person] = (await pollToken(fetch, origin, { deviceCode, name: 'laptop' }))?.token ?? '';
  }
});
afterAll(async () => {
  await team.stop();
  await rm(folder, { recursive: true, force: true });
});
type Outcome = 'done' | 'refused' | 'none' | 'usage';

const refusal = 'sluice: You are not allowed to do this. An administrator of this Sluice can.\n';

function outcomeOf({ code, stderr }: { code: number | null; stderr: string }): Outcome | string {
  if (code === 0) return 'done';
  if (code === 2) return 'usage';
  if (stderr === refusal) return 'refused';
  return /^sluice: There is no /.test(stderr) ? 'none' : stderr;
}

/** KEY is a key of the person's own, and the last three columns what happens to a member, a manager and an administrator. */
const cases: [line: string, member: Outcome, manager: Outcome, admin: Outcome][] = [
  ['status', 'done', 'done', 'done'],
  ['status --short', 'done', 'done', 'done'],
  ['key create --name Second', 'done', 'done', 'done'],
  ['key create chosen', 'usage', 'usage', 'done'],
  ['key create --name Third --group default', 'none', 'none', 'done'],
  ['key list', 'done', 'done', 'done'],
  ['key show KEY', 'done', 'done', 'done'],
  ['key disable KEY', 'refused', 'done', 'done'],
  ['key enable KEY', 'refused', 'done', 'done'],
  ['key rotate KEY --yes', 'done', 'done', 'done'],
  ['key limit KEY usd=5/day', 'refused', 'done', 'done'],
  ['key show of-nobody', 'none', 'none', 'none'],
  ['key revoke of-nobody --yes', 'none', 'none', 'none'],
  ['model list', 'done', 'done', 'done'],
  ['model list --group ours', 'done', 'done', 'done'],
  ['model list --key KEY', 'done', 'done', 'done'],
  ['model list --group default', 'none', 'none', 'done'],
  ['route explain --model demo-chat', 'done', 'done', 'done'],
  ['group list', 'done', 'done', 'done'],
  ['group show ours', 'done', 'done', 'done'],
  ['group show default', 'none', 'none', 'done'],
  ['group put ours --name Ours', 'refused', 'refused', 'done'],
  ['log', 'done', 'done', 'done'],
  ['log --errors', 'done', 'done', 'done'],
  ['log --export csv', 'done', 'done', 'done'],
  ['log show req_0', 'none', 'none', 'none'],
  ['sessions', 'done', 'done', 'done'],
  ['session show ses_0123456789abcdef', 'none', 'none', 'none'],
  ['usage', 'done', 'done', 'done'],
  ['usage --by group', 'done', 'done', 'done'],
  ['usage --limits', 'done', 'done', 'done'],
  ['connect', 'done', 'done', 'done'],
  ['connect codex', 'done', 'done', 'done'],
  ['faults list', 'done', 'done', 'done'],
  ['faults start --group ours --profile rough', 'refused', 'done', 'done'],
  ['faults stop --group ours', 'refused', 'done', 'done'],
  ['capture on --group ours', 'refused', 'refused', 'done'],
  ['capture off --group ours', 'refused', 'refused', 'done'],
  ['cache stats', 'done', 'done', 'done'],
  ['cache clear', 'refused', 'refused', 'done'],
  ['prices list', 'refused', 'refused', 'done'],
  ['cassette status', 'refused', 'refused', 'done'],
  ['settings get', 'done', 'done', 'done'],
  ['settings set demo auto', 'refused', 'refused', 'done'],
  ['demo auto', 'refused', 'refused', 'done'],
  ['provider list', 'refused', 'refused', 'done'],
  ['provider presets', 'done', 'done', 'done'],
  ['provider test demo', 'refused', 'refused', 'done'],
  ['provider models demo', 'refused', 'refused', 'done'],
  ['alias list', 'refused', 'refused', 'done'],
  ['alias put fast --target demo/demo-chat', 'refused', 'refused', 'done'],
  ['alias remove fast --yes', 'refused', 'refused', 'done'],
  ['export', 'refused', 'refused', 'done'],
  ['people list', 'refused', 'refused', 'done'],
  ['audit', 'refused', 'refused', 'done'],
  ['token list', 'done', 'done', 'done'],
  ['token create pipeline --scope read', 'done', 'done', 'done'],
  ['doctor', 'refused', 'refused', 'done'],
  ['key revoke KEY --yes', 'done', 'done', 'done'],
];

test('a member, a manager and an administrator can use the verbs that are for them, from another machine', async () => {
  const run = (person: string, line: string) =>
    runVerb([...line.split(' '), '--data-dir', folder, '--gateway', team.sluice.origin], {
      env: { SLUICE_TOKEN: tokens[person] ?? '' },
    });
  const keys: Record<string, string> = {};
  for (const person of people) {
    const { stdout, stderr } = await run(person, `key create --name ${person} --group ours --json`);
    expect(stderr).toBe('');
    keys[person] = JSON.parse(stdout).key.id;
  }
  for (const [line, ...expected] of cases) {
    const outcomes = [];
    for (const person of people) {
      outcomes.push(outcomeOf(await run(person, line.replace('KEY', keys[person] ?? ''))));
    }
    expect.soft([line, ...outcomes]).toEqual([line, ...expected]);
  }
}, 120_000);
