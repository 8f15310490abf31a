/** `log` beside a Sluice that runs: what was, what comes, and what was refused. */
import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { builtProgram } from '../../support/program.ts';
import { endProgramsAfterEach, type Ready, runCli, serve, spawnCli, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

// Whole programs are started here; on a busy machine that takes its time.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

test('log and doctor tell of requests with a wrong key, and --json lists none of them', async () => {
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

test('log --follow prints what was and each request as it ends, and ends with the Sluice it follows', async () => {
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

test('log --follow ends when nobody reads it any more', async () => {
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
