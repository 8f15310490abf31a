/** The findings of `doctor` about Sluice's surroundings: the program on its port, and the environment. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endProgramsAfterEach, runCli, serve, temporaryFolder } from './run-cli.ts';

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
