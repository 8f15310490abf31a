import { exec } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { commandName } from '../../../server/cli/serve.ts';
import { packageName } from '../../../server/ground/version.ts';
import { onlyIf } from '../../support/only-if.ts';
import { freePort } from '../../support/ports.ts';
import { get, shownToPerson } from '../../support/program.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { startUpstream } from '../../support/upstream.ts';
import { exampleAt } from '../config/config-folder.ts';
import { endProgramsAfterEach, runCli, runVerb, serve, serveForPerson, spawnCli, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

const stopLater = stopAfterEach();

describe('the ready line', () => {
  test('is the only one on stdout, and holds base URL, window, key and process', async () => {
    const { ready, output, child } = await serve(temporaryFolder());
    expect(output.stdout.split('\n')).toHaveLength(2);
    expect(Object.keys(ready)).toEqual(['event', 'baseUrl', 'windowUrl', 'key', 'pid']);
    expect(ready).toMatchObject({ event: 'ready', pid: child.pid });
    expect(ready.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(ready.key).toMatch(/^sk-sluice-\w{40,}$/);
    expect(ready.windowUrl.startsWith(ready.baseUrl.replace('/v1', '/'))).toBe(true);
    expect((await get(`${ready.baseUrl}/models`, ready.key ?? '')).status).toBe(200);
  });

  test('has a key on the first run only, and that key stays good', async () => {
    const folder = temporaryFolder();
    const first = await serve(folder);
    expect(await first.end()).toBe(0);
    const second = await serve(folder);
    expect(second.ready).not.toHaveProperty('key');
    expect((await get(`${second.ready.baseUrl}/models`, first.ready.key ?? '')).status).toBe(200);
  });

  test('comes with a window address that lets a browser in', async () => {
    const { ready } = await serve(temporaryFolder());
    const response = await fetch(ready.windowUrl, { redirect: 'manual' });
    expect(response.status).toBe(303);
    expect(response.headers.get('set-cookie')).toMatch(/HttpOnly/i);
  });
});

describe('what a person is shown', () => {
  test('holds a curl line that answers when it is pasted into a shell', async () => {
    const folder = temporaryFolder();
    const output = await serveForPerson(['--data-dir', folder]);
    expect(output).toContain('Base URL');
    const line = output.split('\n').find((each) => each.trim().startsWith('curl '));
    const { stdout } = await promisify(exec)(`${line} -s`, { env: { PATH: process.env.PATH, no_proxy: '*' } });
    expect(JSON.parse(stdout)).toMatchObject({
      object: 'chat.completion',
      model: expect.stringContaining('demo-chat'),
    });
  });

  test('holds a curl line with the key of the declarative file in its variable', async () => {
    const upstream = await stopLater(startUpstream());
    const folder = temporaryFolder();
    const file = join(folder, 'sluice.json');
    writeFileSync(file, JSON.stringify(exampleAt(upstream.baseUrl)));
    const env = { SLUICE_KEY: 'a key with spaces', MAIN_API_KEY: 'upstream-key' };
    const output = await serveForPerson(['--data-dir', folder, '--config', file], env);
    const line = output.split('\n').find((each) => each.trim().startsWith('curl '));
    const shell = { env: { PATH: process.env.PATH, no_proxy: '*', ...env } };
    const { stdout } = await promisify(exec)(`${line} -s`, shell);
    expect(JSON.parse(stdout).data.map((model: { id: string }) => model.id)).toContain('fast');
  });
});

describe('without any word', () => {
  test('the command serves and shows the window, and while that runs says where', async () => {
    const env = { SLUICE_DATA_DIR: temporaryFolder() };
    await runVerb(['settings', 'set', 'port', String(await freePort())], { env });
    const output = await shownToPerson(spawnCli([], { env }));
    expect(output).toMatch(/^ {2}Window {4}http:\/\/127\.0\.0\.1:\d+\/control\/session\?token=/m);
    const second = await runCli([], { env });
    expect(second.code).toBe(0);
    expect(second.stdout).toContain(`listening:   ${new URL(/http:\S+/.exec(output)?.[0] ?? '').origin}`);
  });
});

test.each([
  ['sluice', {}],
  ['npm run -s sluice --', { npm_lifecycle_event: 'start', npm_package_name: packageName }],
  [`npx ${packageName}`, { npm_lifecycle_event: 'npx', npm_package_name: packageName }],
  [`npx ${packageName}`, { npm_lifecycle_event: 'gateway', npm_package_name: 'my-project' }],
])('advice names the command as it can be typed: %s', (command, env) => {
  expect(commandName(env)).toBe(command);
});

describe('what stands in the way', () => {
  test('a taken port is told with its holder and with one that is free', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    try {
      const folder = temporaryFolder();
      const taken = await runCli(['serve', '--port', String(port), '--data-dir', folder]);
      expect(taken.code).toBe(1);
      expect(taken.stderr).toContain(`Port ${port} is taken`);
      if (process.platform === 'linux') expect(taken.stderr).toContain(`(process ${process.pid})`);
      const free = /--port (\d+)/.exec(taken.stderr)?.[1] ?? '';
      const { ready } = await serve(folder, ['--port', free]);
      expect(ready.baseUrl).toBe(`http://127.0.0.1:${free}/v1`);
      expect(ready.key).toBeDefined();
    } finally {
      other.close();
    }
  });

  test('a port in use by another Sluice is reported with that Sluice and its data folder', async () => {
    const [folder, other] = [temporaryFolder(), temporaryFolder()];
    const { ready } = await serve(other);
    const { port } = new URL(ready.baseUrl);
    const taken = await runCli(['serve', '--port', port, '--data-dir', folder]);
    expect(taken.code).toBe(1);
    const isTold = process.platform === 'linux';
    const who = isTold ? `Sluice (process ${ready.pid}, data folder ${other})` : 'Sluice';
    expect(taken.stderr).toContain(`Port ${port} is taken by ${who}`);
    expect(taken.stderr).toContain('Use that one, stop it, or use the free port ');
  });

  test.runIf(onlyIf(process.platform === 'linux', 'names of processes are read in /proc'))(
    'the system shows it by its name, not by that of a thread of Node',
    async () => {
      const { ready } = await serve(temporaryFolder());
      expect(readFileSync(`/proc/${ready.pid}/comm`, 'utf8').trim()).toBe(`sluice:${new URL(ready.baseUrl).port}`);
    },
  );

  test('a second Sluice on the same folder says who has it and ends with 3', async () => {
    const folder = temporaryFolder();
    const { ready } = await serve(folder);
    const second = await runCli(['serve', '--port', '0', '--data-dir', folder]);
    expect(second.code).toBe(3);
    expect(second.stderr).toContain(`process ${ready.pid}`);
    expect(second.stderr).toContain(ready.baseUrl.replace('/v1', ''));
  });

  test('a data folder that cannot be used is reported with advice', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const { code, stderr } = await runCli(['serve', '--port', '0', '--data-dir', join(file, 'data')]);
    expect(code).toBe(1);
    expect(stderr).toContain('cannot be used');
    expect(stderr).toContain('--data-dir');
  });

  test.runIf(onlyIf(process.platform === 'linux', 'all of 127.0.0.0/8 is this machine on Linux'))(
    'it listens on 127.0.0.1 alone unless it is told otherwise',
    async () => {
      const healthAt = async (parameters: string[]) => {
        const { ready } = await serve(temporaryFolder(), parameters);
        const url = `http://127.0.0.2:${new URL(ready.baseUrl).port}/healthz`;
        return fetch(url).then(
          ({ status }) => status,
          () => 'unreachable',
        );
      };
      expect(await healthAt([])).toBe('unreachable');
      expect(await healthAt(['--host', '0.0.0.0'])).toBe(200);
    },
  );

  test('an address that does not belong to this machine is reported', async () => {
    const { code, stderr } = await runCli([
      'serve',
      '--host',
      '192.0.2.1',
      '--port',
      '0',
      '--data-dir',
      temporaryFolder(),
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain('192.0.2.1 is not an address of this machine');
  });

  test('wrong arguments end with 2 and change nothing', async () => {
    const folder = join(temporaryFolder(), 'never-made');
    for (const parameters of [['--port', 'many'], ['--port', '70000'], ['--no-such-option'], ['too', 'many']]) {
      const { code, stderr } = await runCli(['serve', '--data-dir', folder, ...parameters]);
      expect(code, parameters.join(' ')).toBe(2);
      expect(stderr).toContain('--help');
    }
    const secrets = await runCli(['serve', '--data-dir', folder], { env: { SLUICE_SECRETS: 'drawer' } });
    expect(secrets.code).toBe(2);
    expect(existsSync(folder)).toBe(false);
  });
});

test('a machine without a keychain is served, and this is reported when a secret is stored', async () => {
  const folder = temporaryFolder();
  const { ready, output } = await serve(folder, [], { env: { SLUICE_SECRETS: 'auto', DBUS_SESSION_BUS_ADDRESS: '' } });
  expect(ready.key).toBeDefined();
  expect(output.stderr).toContain('No OS keychain answers here');
  expect(output.stderr).toContain('encrypted file');
});
