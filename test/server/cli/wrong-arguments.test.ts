/** How the command line handles unusable arguments and requests for help. */
import { expect, test } from 'vitest';
import { endProgramsAfterEach, runCli, runVerb, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

test('export says why a file cannot be written', async () => {
  const { code, stderr } = await runCli(['export', '/nowhere/x.json', '--data-dir', temporaryFolder()]);
  expect(code).toBe(1);
  expect(stderr).toBe('sluice: /nowhere/x.json cannot be written: there is no folder /nowhere; make it first.\n');
});

test.each([
  [['key', 'create', '--expires', 'soon'], 'Use a date'],
  [['key', 'create', '--expires', '2020-01-01'], 'in the past'],
  [['key', 'create', '--expires', '99999999999d'], 'between the years 1970 and 9999'],
  [['log', '--since', '99999999999d'], 'between the years 1970 and 9999'],
  [['usage', '--since', '1960-01-01'], 'between the years 1970 and 9999'],
  [['key', 'rotate', 'k', '--yes', '--grace', '99999999999d'], 'At most 7d'],
  [['alias', 'put', 'fast', '--target', 'nonsense'], 'provider/model'],
  [['alias', 'put', 'fast', '--target', 'a/b,priority=1.5.2'], '"priority" must be a whole number, not "1.5.2".'],
  [['alias', 'put', 'fast', '--target', 'a/b,weight=.'], '"weight" must be a number, not ".".'],
  [['alias', 'put', 'fast', '--target', 'a/b,context=128k'], '"context" must be a whole number, not "128k".'],
  [['group', 'put', 'team', '--policy', 'timeouts.firstByteMs=1.2.3'], 'timeouts.firstByteMs: '],
  [['faults', 'run', '--fault', 'stall;after=1.2.3', '--', 'true'], '"after" of "stall" must be a number.'],
  [['group', 'put', 'team', '--default', 'singing=x'], 'capability=model'],
  [['group', 'put', 'team', '--default', 'chatx'], 'capability=model'],
  [['group', 'put', 'team', '--policy', 'strategy=best'], 'strategy=sticky'],
  [['group', 'put', 'team', '--policy', 'retries'], 'is not name=value'],
  [['group', 'put', 'team', '--policy', '{"retries":'], 'not JSON'],
  [['usage', '--by', 'mood'], 'It is one of day, key, group'],
  [['key', 'create', '--limit', 'requests=0'], 'Use limits such as'],
  [['key', 'create', '--limit', 'requests=5/day'], 'Use requests=5/minute.'],
  [['group', 'put', 'team', '--unpriced', 'maybe'], 'refuse, allow'],
  [['group', 'put', 'team', '--limit', 'usd=5'], 'Use usd=5/day, /week, /month or /total.'],
  [['key', 'limit', 'k1', 'nonsense'], 'Use limits such as'],
  [['log', '--limit', '0'], 'from 1 to 1000'],
  [['provider', 'add', '--header', 'nonsense'], 'Name: value'],
  [['provider', 'add', '--url', 'ftp://llm.example'], 'begins with http:// or https://'],
  [['settings', 'get', 'retentionDays'], 'Did you mean "ledger.retentionDays"?'],
  [['nonsense'], 'There is no command "nonsense"'],
])('%j ends with 2 and says what is wrong', async (parameters, message) => {
  const { code, stdout, stderr } = await runVerb(parameters, { env: { SLUICE_DATA_DIR: temporaryFolder() } });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
});

test('help is on stdout, ends with 0 and tells why a credential is no argument', async () => {
  const program = await runCli(['--help']);
  expect(program.code).toBe(0);
  for (const verb of [
    'serve',
    'key',
    'provider',
    'group',
    'alias',
    'model',
    'route',
    'log',
    'usage',
    'export',
    'import',
    'doctor',
  ]) {
    expect(program.stdout).toMatch(new RegExp(`^  ${verb}\\b`, 'm'));
  }
  const add = await runCli(['provider', 'add', '--help']);
  expect(add.stdout).toContain('never passed as an argument');
});

test('provider add names the variable that holds a credential, and takes it only when told to', async () => {
  const env = { SLUICE_DATA_DIR: temporaryFolder(), OPENAI_API_KEY: 'sk-of-the-environment' };
  const { code, stdout, stderr } = await runVerb(['provider', 'add', 'openai'], { env });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('OPENAI_API_KEY is set: use it with --credential-env OPENAI_API_KEY');
  expect(stderr).not.toContain('sk-of-the-environment');
});
