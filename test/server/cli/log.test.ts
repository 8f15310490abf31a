/** `log` with a running Sluice: past requests, new ones, and refused ones. */
import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { builtProgram } from '../../support/program.ts';
import {
  endProgramsAfterEach,
  type Ready,
  runCli,
  runJson,
  runVerb,
  serve,
  spawnCli,
  temporaryFolder,
} from './run-cli.ts';

endProgramsAfterEach();

test('log and doctor report requests with a wrong key, and --json lists none of them', async () => {
  const folder = temporaryFolder();
  const { ready, end } = await serve(folder);
  const headers = { authorization: 'Bearer sk-of-another-service', 'user-agent': 'Tool/1.2' };
  for (let times = 0; times < 3; times++) await fetch(`${ready.baseUrl}/models`, { headers });
  const told =
    /Refused without a valid key in the last hour: 3 \(invalid_api_key\), the last [-\d]+ [:\d]+ from "Tool\/1\.2"\./;
  expect((await runCli(['log', '--data-dir', folder])).stdout).toMatch(told);
  expect((await runCli(['log', '--json', '--data-dir', folder])).stdout).toBe('');
  expect((await runCli(['doctor', '--data-dir', folder])).stdout).toMatch(told);
  await end();
});

test('log --follow prints past requests and each new one as it ends, and ends with the Sluice that it follows', async () => {
  const folder = temporaryFolder();
  const { ready, end } = await serve(folder);
  await listModels(ready);
  const follower = spawnCli(['log', '--follow', '--json', '--data-dir', folder]);
  const routes = () =>
    follower.output.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line || '{}').route);
  await eventually(() => follower.output.stdout.endsWith('\n'));
  expect(routes()).toEqual(['/v1/models']);
  await listModels(ready, '/models/demo-chat');
  await eventually(() => routes().length === 2);
  expect(routes()).toEqual(['/v1/models', '/v1/models/{model}']);
  await end();
  expect(await follower.ended).toBe(0);
});

test('log --follow ends when its output is no longer read', async () => {
  const folder = temporaryFolder();
  const { ready } = await serve(folder);
  const command = `"${process.execPath}" "${builtProgram}" log --follow --json --data-dir "${folder}" | head -n 1`;
  let isOver = false;
  const followed = promisify(exec)(command).finally(() => {
    isOver = true;
  });
  while (!isOver) await listModels(ready);
  const { stdout, stderr } = await followed;
  expect(JSON.parse(stdout)).toMatchObject({ route: '/v1/models' });
  expect(stderr).toBe('');
});

test('log --follow says so if there is nothing to follow', async () => {
  const { code, stderr } = await runCli(['log', '--follow', '--data-dir', temporaryFolder()]);
  expect(code).toBe(1);
  expect(stderr).toContain('No Sluice is running on');
});

async function listModels({ baseUrl, key }: Ready, path = '/models'): Promise<void> {
  const response = await fetch(baseUrl + path, { headers: { authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
}

describe('selected requests', () => {
  let folder: string;
  let ready: Ready;
  const log = (...line: string[]) => runVerb(['log', '--data-dir', folder, ...line]);
  const idsOf = async (...line: string[]) =>
    (await log('--json', ...line)).stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { modelAsked: string }).modelAsked);
  const chat = (model: string, key = ready.key) =>
    fetch(`${ready.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
    }).then((response) => response.arrayBuffer());
  beforeEach(async () => {
    folder = temporaryFolder();
    ({ ready } = await serve(folder));
    const made = (await runJson(['key', 'create', 'other', '--data-dir', folder])) as { secret: string };
    await chat('demo-chat');
    await chat('no-such-model');
    await chat('demo/demo-chat', made.secret);
  });

  test('are those that the options name', async () => {
    const all = ['demo-chat', 'no-such-model', 'demo/demo-chat'];
    const named: [string, string[]][] = [
      ['--key other', ['demo/demo-chat']],
      ['--model demo-chat', ['demo-chat', 'demo/demo-chat']],
      ['--errors', []],
      ['--filter outcome:refused', ['no-such-model']],
      ['--status 404', ['no-such-model']],
      ['--status 2xx --group default', ['demo-chat', 'demo/demo-chat']],
      ['--provider nobody', []],
      ['--since 1h', all],
      ['--until 1h', []],
    ];
    for (const [line, models] of named) expect(await idsOf(...line.split(' ')), line).toEqual(models);
  });

  test('have the reason of a refusal, and can be exported and followed', async () => {
    const refused = ['--filter', 'outcome:refused'];
    const { stdout } = await log(...refused);
    expect(stdout).toContain('404 refused');
    expect(stdout).toMatch(/TRIES +REASON\n.*no-such-model .* 0 +model_not_found\n$/);
    expect((await log(...refused, '--export', 'jsonl')).stdout.trim().split('\n')).toHaveLength(1);
    const follower = spawnCli(['log', '--follow', ...refused, '--data-dir', folder]);
    await eventually(() => follower.output.stdout.includes('no-such-model'));
    await chat('demo-chat');
    await chat('another-missing-model');
    await eventually(() => follower.output.stdout.includes('another-missing-model'));
    const [head = '', first = '', last = ''] = follower.output.stdout.split('\n');
    expect(follower.output.stdout).not.toContain('demo-chat');
    const column = head.indexOf('REASON');
    expect([first, last].map((line) => line.slice(column))).toEqual(['model_not_found', 'model_not_found']);
  });
});

test('log show ID and log ID print the same details', async () => {
  const folder = temporaryFolder();
  const { ready } = await serve(folder);
  const response = await fetch(`${ready.baseUrl}/models`, { headers: { authorization: `Bearer ${ready.key}` } });
  await response.arrayBuffer();
  const id = response.headers.get('x-sluice-request-id') ?? '';
  const shown = await runVerb(['log', 'show', id, '--data-dir', folder]);
  expect(shown.stdout).toContain(id);
  expect(await runVerb(['log', id, '--data-dir', folder])).toEqual(shown);
});
