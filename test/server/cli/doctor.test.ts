/** The findings of `doctor` about Sluice's surroundings: the program on its port, and the environment. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endProgramsAfterEach, runCli, runJson, runVerb, serve, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

test('doctor knows the Sluice that has its port, and says on which data folder it runs', async () => {
  const [folder, other] = [temporaryFolder(), temporaryFolder()];
  const { ready } = await serve(other);
  const { port } = new URL(ready.baseUrl);
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({ version: 1, groups: [{ id: 'default' }], settings: { port: Number(port) } }),
  );
  const { code, stdout } = await runCli(['doctor', '--data-dir', folder]);
  const who = process.platform === 'linux' ? `Sluice (process ${ready.pid}, data folder ${other})` : 'Sluice';
  expect(code).toBe(1);
  expect(stdout).toContain(`FAILED  port: ${port} is taken by ${who}`);
});

test('doctor and a missing credential name what the environment holds already', async () => {
  const options = { env: { SLUICE_DATA_DIR: temporaryFolder(), GROQ_API_KEY: 'planted-4711' } };
  const doctor = await runCli(['doctor'], options);
  expect(doctor.stdout).toContain('provider add groq --credential-ref env:GROQ_API_KEY');
  const add = await runCli(['provider', 'add', 'groq'], options);
  expect(add.code).toBe(2);
  expect(add.stderr).toContain('--credential-env GROQ_API_KEY');
  expect(doctor.stdout + add.stderr).not.toContain('planted');
});

test('doctor tells where a connected Claude Code sends the tools of all MCP servers, until it is connected anew', async () => {
  const [folder, home] = [temporaryFolder(), temporaryFolder()];
  const env = { HOME: home };
  const file = join(home, '.claude/settings.json');
  const doctor = async (more = {}) =>
    (await runVerb(['doctor', '--data-dir', folder], { env: { ...env, ...more } })).stdout;
  mkdirSync(join(home, '.claude'));
  writeFileSync(file, '{"env":{"ANTHROPIC_BASE_URL":"http://localhost:4810"}}');
  expect(await doctor()).toContain('ok      claude-code: Claude Code lacks ENABLE_TOOL_SEARCH=true');
  expect(await doctor({ ENABLE_TOOL_SEARCH: 'auto' })).not.toContain('ENABLE_TOOL_SEARCH');

  await runJson(['key', 'create', 'mine', '--data-dir', folder]);
  const connect = ['connect', 'claude-code', '--write', '--yes', '--key', 'mine', '--model', 'demo-chat'];
  expect((await runVerb([...connect, '--data-dir', folder], { env })).code).toBe(0);
  expect(JSON.parse(readFileSync(file, 'utf8')).env.ENABLE_TOOL_SEARCH).toBe('true');
  expect(await doctor()).not.toContain('ENABLE_TOOL_SEARCH');

  writeFileSync(file, '{"env":{"ENABLE_TOOL_SEARCH":"false"}}');
  expect((await runVerb([...connect, '--data-dir', folder], { env })).code).toBe(0);
  expect(JSON.parse(readFileSync(file, 'utf8')).env.ENABLE_TOOL_SEARCH).toBe('false');
  writeFileSync(file, '{"env":{"ANTHROPIC_BASE_URL":"http://gateway.example"}}');
  expect(await doctor()).not.toContain('ENABLE_TOOL_SEARCH');
});
