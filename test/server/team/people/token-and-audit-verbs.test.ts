/**
 * The verbs `token`, `people` and `audit`, used with a gateway at which people sign in, and with the engine of the same
 * machine.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditEntry } from '../../../../server/contract/people-views.ts';
import { acquireInstanceLock, type InstanceLock } from '../../../../server/data-folder/instance-lock.ts';
import { eventually } from '../../../support/eventually.ts';
import { endProcess, ensureBuilt, startProgram } from '../../../support/program.ts';

import { runVerb } from '../../cli/run-cli.ts';
import { type SignInGateway, startSignInGateway } from './signed-in.ts';

let team: SignInGateway;
let folder: string;
let lock: InstanceLock;
let tokens: Record<'ada' | 'mia', string>;
beforeAll(async () => {
  team = await startSignInGateway();
  lock = await claimed(team);
  folder = await mkdtemp(join(tmpdir(), 'sluice-tokens-'));
  tokens = { ada: await tokenOf('ada'), mia: await tokenOf('mia') };
});
afterAll(async () => {
  await team.stop();
  await lock.release();
  await rm(folder, { recursive: true, force: true });
});

/** Claims the data folder, so that verbs on it find the running engine. */
async function claimed({ sluice }: SignInGateway): Promise<InstanceLock> {
  const held = await acquireInstanceLock(sluice.folder);
  if ('holder' in held) throw new Error('the folder is in use');
  const { hostname, port } = new URL(sluice.origin);
  await held.update({ host: hostname, port: Number(port), instanceId: sluice.gateway.instanceId });
  return held;
}

async function tokenOf(person: string): Promise<string> {
  const command = { type: 'token.create', name: 'of the tests', scopes: ['read', 'keys', 'write'] };
  const made = await team.call('/execute', { cookie: await team.signIn(person) }, command);
  return (await made.json()).result.secret;
}

const runAs = (token: string, ...parameters: string[]) =>
  runVerb([...parameters, '--data-dir', folder, '--gateway', team.sluice.origin], { env: { SLUICE_TOKEN: token } });
const runOn = (...parameters: string[]) => runVerb([...parameters, '--data-dir', team.sluice.folder]);

test('a token is printed once, does what its scopes say, and nothing once it is revoked', async () => {
  const made = await runAs(tokens.mia, 'token', 'create', 'pipeline', '--scope', 'read', '--days', '2');
  const secret = made.stdout.trim();
  expect([made.code, secret]).toEqual([0, expect.stringMatching(/^slt_[\w-]{43}$/)]);
  const listed = await runAs(secret, 'token', 'list');
  expect(listed.stdout).toMatch(/tok_[0-9a-f]{16} +pipeline +mia of Acme +read +\d{4}-/);
  expect(listed.stdout).not.toContain(secret);
  expect((await runAs(secret, 'key', 'create', '--group', 'ours')).stderr).toContain('lacks the scope');
  const [, id = ''] = /API token "(tok_\w+)" is valid until \d{4}-/.exec(made.stderr) ?? [];
  expect((await runAs(tokens.mia, 'token', 'revoke', id, '--yes')).stdout).toBe(`API token "${id}" is revoked.\n`);
  expect(await runAs(secret, 'token', 'list')).toMatchObject({ code: 1, stdout: '' });
  expect((await runAs(tokens.mia, 'token', 'revoke', id, '--yes')).stderr).toContain(`There is no API token "${id}"`);
});

test('an administrator sees the tokens of all, a member their own, and the machine has none', async () => {
  const namesFor = async (token: string) =>
    JSON.parse((await runAs(token, 'token', 'list', '--json')).stdout).map(
      ({ personId }: { personId: string }) => personId,
    );
  expect(new Set(await namesFor(tokens.mia)).size).toBe(1);
  expect(new Set(await namesFor(tokens.ada)).size).toBe(2);
  expect((await runOn('token', 'list')).stdout).toContain('ada of Acme');
  expect((await runOn('token', 'create', 'x', '--scope', 'read')).stderr).toContain('belongs to a person');
});

test('the audit list tells who changed what, of one person, of the machine, and page by page', async () => {
  await runAs(tokens.ada, 'group', 'put', 'ours', '--name', 'Our group');
  await runOn('group', 'put', 'ours', '--name', 'Renamed');
  const all = await runAs(tokens.ada, 'audit');
  expect(all.stdout).toMatch(/ada of Acme +127\.0\.0\.1 +group\.put +ours +name\n/);
  expect(all.stdout).toMatch(/mia of Acme +127\.0\.0\.1 +token\.create +pipeline\n/);
  expect(all.stdout).toMatch(/admin token +group\.put +ours +name\n/);
  const ofAda = (await runOn('audit', '--person', 'ADA@acme.example')).stdout;
  expect(ofAda).toContain('group.put');
  expect(ofAda).not.toMatch(/admin token|mia of Acme/);
  expect((await runOn('audit', '--local')).stdout).not.toContain('of Acme');
  const first = await runOn('audit', '--limit', '1');
  const [, before = ''] = /Earlier ones: --before (\d+)/.exec(first.stderr) ?? [];
  const [second] = JSON.parse((await runOn('audit', '--limit', '1', '--before', before, '--json')).stdout).entries;
  expect(second).toMatchObject({
    seq: Number(before) - 1,
    changes: [{ fields: [{ name: 'name', after: '"Our group"' }] }],
  });
  expect((await runAs(tokens.mia, 'audit')).stderr).toContain('not allowed');
  expect((await runOn('audit', '--person', 'nobody')).stderr).toContain('There is no person "nobody"');
});

test('the audit list is exported as JSON lines, of all pages or of one person', async () => {
  const scopes = ['read'];
  const cookie = await team.signIn('ada');
  const { id } = (await (await team.call('/query', { cookie }, { type: 'who-am-i' })).json()).result.person;
  // More than a page.
  for (let count = 0; count < 1_010; count += 1) await team.sluice.gateway.execute({ type: 'faults.stop' });
  await team.call('/execute', { cookie }, { type: 'token.create', name: 'last', scopes });
  const file = join(folder, 'audit.jsonl');
  expect(await runAs(tokens.ada, 'audit', '--export', file)).toMatchObject({
    code: 0,
    stdout: `Written to ${file}.\n`,
  });
  const linesOf = (text: string): AuditEntry[] =>
    text
      .trimEnd()
      .split('\n')
      .map((each) => JSON.parse(each));
  const written = linesOf(await readFile(file, 'utf8'));
  expect(written[0]).toMatchObject({ action: 'token.create', target: 'last', personId: id });
  const numbers = written.map(({ seq }) => seq);
  expect(numbers).toEqual(Array.from({ length: written.length }, (_, index) => written.length - index));
  expect(numbers.length).toBeGreaterThan(1_010);
  const piped = await runOn('audit', '--export', '-', '--person', 'ada@acme.example');
  expect(linesOf(piped.stdout)).toEqual(written.filter(({ personId }) => personId === id));
  expect((await runOn('audit', '--export', join(folder, 'none', 'x'))).stderr).toContain('there is no folder');
  expect((await runAs(tokens.mia, 'audit', '--export', '-')).stderr).toContain('not allowed');
});

test('new entries of the audit list are printed as they are stored, each once', async () => {
  await ensureBuilt();
  const folderOfGateway = ['--data-dir', team.sluice.folder];
  const { child, output } = startProgram([
    'audit',
    '--follow',
    '--json',
    '--local',
    '--limit',
    '1',
    ...folderOfGateway,
  ]);
  const entries = (): AuditEntry[] =>
    output.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const stop = () => team.sluice.gateway.execute({ type: 'faults.stop' });
  await stop();
  await eventually(() => entries().length === 1);
  for (let count = 2; count <= 4; count++) {
    await stop();
    await eventually(() => entries().length === count);
  }
  const page = JSON.parse((await runOn('audit', '--json', '--local', '--limit', '4')).stdout);
  expect(entries()).toEqual(page.entries.toReversed());
  await endProcess(child, 'SIGTERM');
});

test('an administrator lists people, and signs one out everywhere', async () => {
  const cookie = await team.signIn('mo');
  const listed = await runAs(tokens.ada, 'people', 'list');
  expect(listed.stdout).toMatch(/mia of Acme +mia@acme\.example +member +ours +\d{4}-\S+ \S+ +at sign-in only/);
  expect(listed.stdout).toMatch(/mo of Acme +mo@acme\.example +manager +ours/);
  expect((await runAs(tokens.ada, 'people', 'sign-out', 'mo@acme.example')).code).toBe(2);
  const out = await runAs(tokens.ada, 'people', 'sign-out', 'mo@acme.example', '--yes');
  expect(out.stdout).toContain('mo of Acme is signed out everywhere');
  expect((await team.call('/query', { cookie }, { type: 'keys' })).status).toBe(401);
  expect((await runAs(tokens.mia, 'people', 'list')).stderr).toContain('not allowed');
});

test("an administrator lists a person's keys and takes all of their access", async () => {
  const cookie = await team.signIn('mo');
  const { secret } = (
    await (
      await team.call('/execute', { cookie }, { type: 'token.create', name: 'ci', scopes: ['read', 'write'] })
    ).json()
  ).result;
  for (const own of [true, false])
    await team.call('/execute', { cookie }, { type: 'key.create', name: own ? 'mine' : 'ours', group: 'ours', own });
  const listOf = async (token: string, owner: string) => {
    const { stdout, stderr } = await runAs(token, 'key', 'list', '--owner', owner, '--json');
    return stderr || JSON.parse(stdout).map(({ name }: { name: string }) => name);
  };
  expect(await listOf(secret, 'me')).toEqual(['mine']);
  expect(await listOf(tokens.ada, 'mo@acme.example')).toEqual(['mine']);
  expect(await listOf(tokens.ada, 'me')).toEqual([]);
  expect(await listOf(tokens.mia, 'mo@acme.example')).toContain('not allowed');
  expect((await runAs(tokens.mia, 'people', 'revoke', 'mo@acme.example', '--yes')).stderr).toContain('not allowed');
  const disabled = await runAs(tokens.ada, 'people', 'revoke', 'mo@acme.example', '--disable', '--yes');
  expect(disabled.stdout).toContain('mo of Acme has no session or API token any more, and 1 key is disabled.');
  const revoked = await runAs(tokens.ada, 'people', 'revoke', 'mo@acme.example', '--yes');
  expect(revoked.stdout).toContain('mo of Acme has no session or API token any more, and 1 key is revoked.');
  expect(await listOf(tokens.ada, 'mo@acme.example')).toEqual([]);
  expect((await runAs(secret, 'key', 'list')).code).not.toBe(0);
  expect((await runAs(tokens.ada, 'audit', '-n', '1')).stdout).toMatch(/person\.revoke +prs_[0-9a-f]{24} +removed/);
});
