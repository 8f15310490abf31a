/**
 * With a public address, everything that tells a person or a program where Sluice is names that address. Once, the window,
 * the ready line and `status` named the loopback address behind the load balancer.
 */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clientGuides } from '../../../server/contract/clients/client-guides.ts';
import {
  createKey,
  endProgramsAfterEach,
  runCli,
  runJson,
  runVerb,
  serve,
  serveForPerson,
  temporaryFolder,
} from './run-cli.ts';

endProgramsAfterEach();

const loopback = /127\.0\.0\.1|localhost:\d|0\.0\.0\.0/;

test('serve, status and doctor tell the public address', async () => {
  const folder = temporaryFolder();
  const { ready } = await serve(folder, ['--public-url', 'https://gateway.example']);
  expect(ready).toMatchObject({ baseUrl: 'https://gateway.example/v1', windowUrl: 'https://gateway.example' });
  const status = await runJson(['status', '--data-dir', folder]);
  expect(status).toMatchObject({
    baseUrl: 'https://gateway.example/v1',
    listensAt: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  });
  const { stdout } = await runVerb(['status', '--data-dir', folder]);
  expect(stdout).toMatch(
    /^Sluice \S+ is running at https:\/\/gateway\.example\/v1, listening at http:\/\/127\.0\.0\.1:\d+ /,
  );
  const examined = await runVerb(['doctor', '--data-dir', folder]);
  expect(examined.stdout).toMatch(/Sluice answers at https:\/\/gateway\.example\/v1, listening at http:/);
});

test('what a person is shown at the start names no other address', async () => {
  const shown = await serveForPerson(['--data-dir', temporaryFolder(), '--public-url', 'https://gateway.example']);
  expect(shown).toContain('Base URL  https://gateway.example/v1');
  expect(shown).toContain('curl https://gateway.example/v1/chat/completions');
  expect(shown).not.toMatch(loopback);
});

test('every client is set up with the public address, in steps and in its files', async () => {
  const folder = temporaryFolder();
  const home = temporaryFolder();
  await serve(folder, ['--public-url', 'https://gateway.example'], { env: { HOME: home, XDG_CONFIG_HOME: home } });
  await createKey(folder);
  for (const { id } of clientGuides) {
    const { stdout } = await runVerb(['connect', id, '--data-dir', folder, '--model', 'm']);
    expect.soft(stdout, id).toContain('https://gateway.example');
    expect.soft(stdout.replaceAll('host.docker.internal in place of 127.0.0.1', ''), id).not.toMatch(loopback);
  }
  const line = ['connect', 'aider', '--write', '--yes', '--model', 'm', '--key', 'my-key', '--data-dir', folder];
  expect(await runVerb(line, { env: { HOME: home } })).toMatchObject({ code: 0 });
  expect(readFileSync(join(home, '.aider.conf.yml'), 'utf8')).toContain('https://gateway.example/v1');
});

test('variables for programs hold the public address', async () => {
  const folder = temporaryFolder();
  await serve(folder, ['--public-url', 'https://gateway.example']);
  const exported = await runVerb(['key', 'create', '--name', 'mine', '--export', 'sh', '--data-dir', folder]);
  const printed = await runVerb(['env', '--shell', 'sh', '--data-dir', folder]);
  for (const { stdout } of [exported, printed]) {
    expect(stdout).toContain("export OPENAI_BASE_URL='https://gateway.example/v1'");
    expect(stdout).toContain("export ANTHROPIC_BASE_URL='https://gateway.example'");
  }
  const program = 'console.log(process.env.OPENAI_BASE_URL)';
  const ran = await runCli(['run', '--data-dir', folder, '--', process.execPath, '-e', program]);
  expect(ran).toMatchObject({ code: 0, stdout: 'https://gateway.example/v1\n' });
});

test('a provider at the public address is refused, since it would be Sluice itself', async () => {
  const folder = temporaryFolder();
  await serve(folder, ['--public-url', 'https://gateway.example']);
  const line = 'provider add --no-test --no-credential --id loop --url https://gateway.example/v1 --models m';
  const { code, stderr } = await runVerb([...line.split(' '), '--data-dir', folder]);
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('gateway.example is Sluice itself'),
  });
});

test('a request under an unknown host name is told the public address', async () => {
  const folder = temporaryFolder();
  const { ready } = await serve(folder, ['--public-url', 'https://gateway.example']);
  const { listensAt } = (await runJson(['status', '--data-dir', folder])) as { listensAt: string };
  expect(ready.baseUrl).toBe('https://gateway.example/v1');
  expect(await askAs('other.example', listensAt)).toContain('Use https://gateway.example as the base URL');
});

test('without a public address it is the one at which this machine reaches Sluice', async () => {
  const folder = temporaryFolder();
  const { ready } = await serve(folder, ['--host', '0.0.0.0']);
  expect(ready.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  const { stdout } = await runVerb(['status', '--data-dir', folder]);
  expect(stdout).toContain(`is running at ${ready.baseUrl} (process`);
});

async function askAs(host: string, origin: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${origin}/v1/models`, { headers: { host } }, async (response) => {
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      resolve(text);
    });
    outgoing.on('error', reject).end();
  });
}
