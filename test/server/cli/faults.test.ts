/** `sluice faults`: what it lists and switches, and which faults a program under it meets. */
import { expect, test } from 'vitest';
import { endProgramsAfterEach, runCli, runJson, runVerb, serve, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

/** Prints the statuses of three requests. */
const asksThrice = `
  const { env } = process;
  const statuses = [];
  for (let time = 0; time < 3; time++) {
    const { status } = await fetch(env.OPENAI_BASE_URL + '/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + env.OPENAI_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    statuses.push(status);
  }
  console.log(JSON.stringify(statuses));
`;

test('a program under "faults run" meets them with its own key, and its exit code is passed on', async () => {
  const folder = temporaryFolder();
  await serve(folder);
  const script = `${asksThrice} process.exitCode = 7;`;
  const rules = ['--fault', 'status;code=503;nth=2', '--seed', '5'];
  const { code, stdout, stderr } = await runCli([
    'faults',
    'run',
    '--data-dir',
    folder,
    ...rules,
    '--',
    process.execPath,
    '-e',
    script,
  ]);
  expect({ code, statuses: JSON.parse(stdout) }).toEqual({ code: 7, statuses: [200, 503, 200] });
  expect(stderr).toContain('--seed 5');
  expect(await runJson(['status', '--data-dir', folder])).toMatchObject({ faults: [] });
});

test('a program under "faults run --cassette" meets them with recorded answers, and no provider is called', async () => {
  const cassette = temporaryFolder();
  const asking = ['--', process.execPath, '-e', asksThrice];
  await runCli(['record', '--cassette', cassette, '--data-dir', temporaryFolder(), ...asking]);
  const rules = ['--fault', 'status;code=503;nth=2'];
  const { code, stdout, stderr } = await runCli(['faults', 'run', '--cassette', cassette, ...rules, ...asking]);
  expect({ code, statuses: JSON.parse(stdout) }).toEqual({ code: 0, statuses: [200, 503, 200] });
  expect(stderr).toContain(`Cassette ${cassette}: 2 replayed, 0 without a recording.`);
});

test('faults are switched on for a key, shown in the status, and switched off', async () => {
  const folder = temporaryFolder();
  await serve(folder);
  await runJson(['key', 'create', 'mine', '--data-dir', folder]);
  const common = ['--data-dir', folder];
  const started = await runVerb(['faults', 'start', '--key', 'mine', '--profile', 'outage', '--for', '5m', ...common]);
  expect(started.stdout).toMatch(/profile outage for key "mine" until \d\d:\d\d \(seed \d+\)/);
  expect((await runVerb(['status', ...common])).stdout).toContain('Faults:     profile outage for key "mine"');
  expect((await runVerb(['faults', 'stop', ...common])).stdout).toBe('Faults are off.\n');
  expect(await runJson(['key', 'put', 'mine', '--faults', ...common])).toMatchObject({ key: { faults: true } });
});

test('every fault and profile is listed, and a profile’s rules are shown', async () => {
  const folder = ['--data-dir', temporaryFolder()];
  const { stdout } = await runVerb(['faults', 'list', ...folder]);
  for (const name of ['stall', 'cut', 'damaged-gzip', 'rough', 'flaky-streams'])
    expect(stdout).toMatch(new RegExp(`^${name} `, 'm'));
  expect((await runVerb(['faults', 'show', 'slow', ...folder])).stdout).toContain('pace;tokens-per-second=10');
});

test.each([
  [['faults', 'show', 'nonsense'], 'There is no profile "nonsense"'],
  [['faults', 'start', '--key', 'k', '--profile', 'rough'], 'Sluice is not running'],
  [['faults', 'run', '--', 'true'], '--profile or one or more --fault'],
  [
    ['faults', 'run', '--profile', 'rough', '--cassette', 'c', '--key', 'k', '--', 'true'],
    '--cassette cannot be used with --key.',
  ],
  [['faults', 'run', '--fault', 'nonsense', '--', 'true'], 'There is no fault "nonsense"'],
  [['faults', 'run', '--profile', 'nonsense', '--', 'true'], 'rough, rate-limited'],
  [['faults', 'run', '--profile', 'rough', '--seed', 'x', '--', 'true'], 'whole number'],
])('%j is refused with what is wrong', async ([verb = '', sub = '', ...rest], told) => {
  const { code, stderr } = await runVerb([verb, sub, '--data-dir', temporaryFolder(), ...rest]);
  expect(code).not.toBe(0);
  expect(stderr).toContain(told);
});
