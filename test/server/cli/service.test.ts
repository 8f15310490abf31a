/** `sluice service` with a stand-in for `systemctl`, because tests must not change the user's services. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { launchAgent, systemdUnit } from '../../../server/cli/service.ts';
import { onlyIf } from '../../support/only-if.ts';
import { plainEnvironment } from '../../support/program.ts';
import { endProgramsAfterEach, runVerb, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

/** A home folder, and a systemctl that records its arguments and gives a scripted answer to `is-active`. */
function standIn(state = 'active', unreachable = false) {
  const home = temporaryFolder();
  const calls = join(home, 'calls');
  const programs = join(home, 'bin');
  mkdirSync(programs);
  const refusal = unreachable ? `echo 'Failed to connect to bus: No medium found' >&2\nexit 1\n` : '';
  const script = `#!/bin/sh\necho "$@" >> '${calls}'\n${refusal}[ "$2" = is-active ] && echo ${state}\n[ "$2 ${state}" != "is-active inactive" ]\n`;
  writeFileSync(join(programs, 'systemctl'), script);
  chmodSync(join(programs, 'systemctl'), 0o755);
  const env = { HOME: home, PATH: `${programs}${delimiter}${plainEnvironment.PATH}` };
  return {
    unit: join(home, '.config/systemd/user/sluice.service'),
    calls: () => readFileSync(calls, 'utf8').trim().split('\n'),
    service: (...line: string[]) => runVerb(['service', ...line], { env }),
  };
}

describe.runIf(onlyIf(process.platform === 'linux', 'systemd is for Linux'))('with systemd', () => {
  test('install writes a unit with the options of serve, and starts it now and at each login', async () => {
    const { unit, calls, service } = standIn();
    expect(await service('install', '--port', '4999', '--data-dir', '/srv/a b')).toMatchObject({ code: 0 });
    expect(readFileSync(unit, 'utf8')).toMatch(
      /^ExecStart=".+" ".+" "serve" "--data-dir" "\/srv\/a b" "--port" "4999"$/m,
    );
    expect(calls()).toEqual(['--user daemon-reload', '--user enable sluice.service', '--user restart sluice.service']);
  });

  test('status tells an active service from others by its exit code', async () => {
    const active = standIn('active');
    expect(await active.service('status')).toMatchObject({ code: 1, stdout: expect.stringContaining('not installed') });
    await active.service('install');
    expect(await active.service('status')).toMatchObject({ code: 0, stdout: 'The systemd service is active.\n' });
    const inactive = standIn('inactive');
    await inactive.service('install');
    expect(await inactive.service('status')).toMatchObject({
      code: 1,
      stdout: 'The systemd service is inactive.\n',
    });
  });

  test('uninstall stops the service and removes its unit', async () => {
    const { unit, calls, service } = standIn();
    expect(await service('uninstall')).toMatchObject({ code: 1, stderr: expect.stringContaining('not installed') });
    await service('install');
    expect(await service('uninstall')).toMatchObject({ code: 0 });
    expect(existsSync(unit)).toBe(false);
    expect(calls().at(-1)).toBe('--user disable --now sluice.service');
  });

  test('systemd’s errors are reported in its words, and leave no unit behind', async () => {
    const { unit, service } = standIn('active', true);
    expect(await service('install')).toMatchObject({
      code: 1,
      stderr: 'sluice: "systemctl --user daemon-reload" failed: Failed to connect to bus: No medium found.\n',
    });
    expect(existsSync(unit)).toBe(false);
  });

  test('a service that cannot be started again keeps the unit that it had', async () => {
    const { unit, service } = standIn('active', true);
    mkdirSync(join(unit, '..'), { recursive: true });
    writeFileSync(unit, '# mine\n');
    expect(await service('install')).toMatchObject({ code: 1 });
    expect(readFileSync(unit, 'utf8')).toBe('# mine\n');
    expect(await service('uninstall')).toMatchObject({ code: 1, stderr: expect.stringContaining('connect to bus') });
    expect(existsSync(unit)).toBe(true);
    expect(await service('status')).toMatchObject({ code: 1, stderr: expect.stringContaining('connect to bus') });
  });

  test('install refuses a configuration file that is not there', async () => {
    const { unit, service } = standIn();
    const file = join(unit, 'gateway.json');
    expect(await service('install', '--config', file)).toMatchObject({
      code: 1,
      stderr: `sluice: ${file} cannot be read: there is no such file (ENOENT).\n`,
    });
    expect(existsSync(unit)).toBe(false);
  });

  test('a missing systemd is reported', async () => {
    const env = { HOME: temporaryFolder(), PATH: '/nowhere' };
    expect(await runVerb(['service', 'install'], { env })).toMatchObject({
      code: 1,
      stderr: 'sluice: systemctl is not found: this system has no services for users.\n',
    });
  });
});

test('a unit quotes what systemd would read as variables, specifiers and ends of arguments', () => {
  expect(systemdUnit(['/usr/bin/node', 'a "b" $HOME %h \\'])).toContain(
    String.raw`ExecStart="/usr/bin/node" "a \"b\" $$HOME %%h \\"`,
  );
});

test('an agent of launchd is well-formed XML whatever the paths are', () => {
  const agent = launchAgent(['/usr/bin/node', '/a & <b>/cli.js', 'serve'], '/logs/service.log');
  expect(agent).toContain('    <string>/a &amp; &lt;b&gt;/cli.js</string>\n    <string>serve</string>');
});

test.runIf(onlyIf(hasPlutil(), 'plutil checks property lists on macOS'))('an agent of launchd is accepted', () => {
  const file = join(temporaryFolder(), 'agent.plist');
  writeFileSync(file, launchAgent(['/usr/bin/node', '/a & b/cli.js', 'serve'], '/logs/service.log'));
  expect(execFileSync('plutil', ['-lint', file], { encoding: 'utf8' })).toContain('OK');
});

function hasPlutil(): boolean {
  return process.platform === 'darwin';
}
