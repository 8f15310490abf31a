/**
 * `sluice run` and `sluice env`: programs that find Sluice in their environment.
 *
 * @suite long
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { endProgramsAfterEach, runCli, runJson, runVerb, serve, spawnCli, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

const node = process.execPath;
/** Prints the answers to a request of each API, made with the variables of its SDK. */
const asksAllApis = `
  const { env } = process;
  const chat = await fetch(env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + env.OPENAI_API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ model: env.OPENAI_MODEL ?? 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const messages = await fetch(env.ANTHROPIC_BASE_URL + '/v1/messages', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + env.ANTHROPIC_AUTH_TOKEN, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-chat', max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const gemini = await fetch(env.GOOGLE_GEMINI_BASE_URL + '/v1beta/models', { headers: { 'x-goog-api-key': env.GEMINI_API_KEY } });
  console.log(JSON.stringify({ statuses: [chat.status, messages.status, gemini.status], key: env.SLUICE_KEY, model: env.OPENAI_MODEL }));
`;

const askFrom = (folder: string, ...options: string[]) =>
  runCli(['run', '--data-dir', folder, ...options, '--', node, '-e', asksAllApis]);

describe('run', () => {
  test('starts a program that reaches the running Sluice in each API, with a key that ends with it', async () => {
    const folder = temporaryFolder();
    const { ready } = await serve(folder);
    const { code, stdout } = await askFrom(folder, '--model', 'demo-chat');
    expect(code).toBe(0);
    const told = JSON.parse(stdout) as { statuses: number[]; key: string; model: string };
    expect(told).toMatchObject({ statuses: [200, 200, 200], model: 'demo-chat' });
    const after = await fetch(`${ready.baseUrl}/models`, { headers: { authorization: `Bearer ${told.key}` } });
    expect(after.status).toBe(401);
    const keys = (await runJson(['key', 'list', '--data-dir', folder])) as { name: string }[];
    expect(keys.map(({ name }) => name)).toEqual(['First key']);
  });

  test('runs a Sluice for the program where none is running', async () => {
    const { code, stdout } = await askFrom(temporaryFolder());
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ statuses: [200, 200, 200] });
  });

  test('uses an existing key and leaves it', async () => {
    const folder = temporaryFolder();
    const { secret } = (await runJson(['key', 'create', 'mine', '--data-dir', folder])) as { secret: string };
    const { stdout } = await askFrom(folder, '--key', 'mine');
    expect(JSON.parse(stdout)).toMatchObject({ key: secret });
    expect(await runJson(['key', 'show', 'mine', '--data-dir', folder])).toMatchObject({ enabled: true });
  });

  test('unsets variables that would bypass Sluice, and keeps the others', async () => {
    const script =
      'const { ANTHROPIC_API_KEY, GOOGLE_API_KEY, MINE, NO_PROXY } = process.env;' +
      'console.log(JSON.stringify({ ANTHROPIC_API_KEY, GOOGLE_API_KEY, MINE, NO_PROXY }))';
    const { stdout } = await runCli(['run', '--data-dir', temporaryFolder(), '--', node, '-e', script], {
      env: { ANTHROPIC_API_KEY: 'sk-ant-real', GOOGLE_API_KEY: 'real', MINE: 'stays', NO_PROXY: 'intranet.example' },
    });
    expect(JSON.parse(stdout)).toEqual({ MINE: 'stays', NO_PROXY: 'intranet.example,127.0.0.1,localhost' });
  });

  test('ends with the exit code of the program, and passes its arguments on unchanged', async () => {
    const folder = temporaryFolder();
    const script = 'console.log(JSON.stringify(process.argv.slice(1))); process.exit(7)';
    const { code, stdout } = await runCli([
      'run',
      '--data-dir',
      folder,
      node,
      '-e',
      script,
      '--',
      '--key',
      'a b',
      '$HOME',
    ]);
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toEqual(['--key', 'a b', '$HOME']);
  });

  test('says that a program does not exist, ends with 127 and leaves no key', async () => {
    const folder = temporaryFolder();
    const { code, stderr } = await runCli(['run', '--data-dir', folder, '--', 'no-such-program-here']);
    expect({ code, stderr }).toEqual({
      code: 127,
      stderr: 'sluice: no-such-program-here cannot be started: there is no such program.\n',
    });
    expect(await runJson(['key', 'list', '--data-dir', folder])).toEqual([]);
  });

  test('passes SIGTERM on to the program and revokes its key', async () => {
    const folder = temporaryFolder();
    const script = "process.on('SIGTERM', () => process.exit(3)); setInterval(() => {}, 1000); console.log('begun')";
    const { output, ended, child } = spawnCli(['run', '--data-dir', folder, '--', node, '-e', script]);
    await vi.waitFor(() => expect(output.stdout).toContain('begun'), { timeout: 30_000 });
    child.kill('SIGTERM');
    expect(await ended).toBe(3);
    expect(await runJson(['key', 'list', '--data-dir', folder])).toEqual([]);
  });

  test('says when no request to a model has come through Sluice, and keeps the exit code', async () => {
    const folder = temporaryFolder();
    const listsModels =
      "await fetch(process.env.OPENAI_BASE_URL + '/models', { headers: { authorization: 'Bearer ' + process.env.SLUICE_KEY } }); process.exit(7)";
    const { code, stderr } = await runCli(['run', '--data-dir', folder, '--', node, '-e', listsModels]);
    expect({ code, stderr }).toEqual({ code: 7, stderr: expect.stringContaining('No request of node to a model') });
    expect((await askFrom(folder)).stderr).not.toContain('No request');
  });

  test('counts only what was asked during the run, with a key that is used elsewhere too', async () => {
    const folder = temporaryFolder();
    await runJson(['key', 'create', 'mine', '--data-dir', folder]);
    expect((await askFrom(folder, '--key', 'mine')).stderr).not.toContain('No request');
    const { stderr } = await runCli(['run', '--data-dir', folder, '--key', 'mine', '--', node, '-e', '1']);
    expect(stderr).toContain('No request of node to a model');
  });

  test('gives a program a file that only its owner can read, and leaves none', async () => {
    const folder = temporaryFolder();
    const qwen = join(temporaryFolder(), 'qwen');
    writeFileSync(qwen, '#!/bin/sh\nls -l "$QWEN_CODE_SYSTEM_SETTINGS_PATH"; cat "$QWEN_CODE_SYSTEM_SETTINGS_PATH"\n', {
      mode: 0o755,
    });
    const { stdout, code } = await runCli(['run', '--data-dir', folder, '--', qwen]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^-rw------- /);
    expect(stdout).toContain('"selectedType":"openai"');
    expect(readdirSync(folder).filter((name) => name.startsWith('run-'))).toEqual([]);
  });

  test('leaves no key and starts nothing where an argument would lead past Sluice', async () => {
    const folder = temporaryFolder();
    const { code, stderr, stdout } = await runCli(['run', '--data-dir', folder, '--', 'codex', 'exec', '--oss', 'hi']);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining('--oss') });
    expect(await runJson(['key', 'list', '--data-dir', folder])).toEqual([]);
  });

  test('refuses a key together with a group', async () => {
    const { code, stderr } = await runVerb(['run', '--key', 'a', '--group', 'b', '--', 'true']);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('either --key or --group') });
  });
});

test('terminal opens one with the key in its environment, and neither among its arguments nor in what is printed', async () => {
  const folder = temporaryFolder();
  const { secret } = Object(await runJson(['key', 'create', 'mine', '--data-dir', folder]));
  const fake = join(import.meta.dirname, '../../electron/double/bin');
  const env = { HOME: folder, PATH: `${fake}:${process.env.PATH}` };
  const { code, stdout } = await runVerb(['terminal', '--model', 'groq/gpt', '--data-dir', folder], { env });
  expect([code, stdout]).toEqual([
    0,
    'A terminal is open. Programs that are started in it use Sluice with key "mine".\n',
  ]);
  expect(readFileSync(join(folder, 'terminal.called'), 'utf8')).toBe(`0  ${process.cwd()}\n`);
  const noted = readFileSync(join(folder, 'terminal.env'), 'utf8').split('\n');
  expect(noted).toEqual(expect.arrayContaining([`SLUICE_API_KEY=${secret}`, 'OPENAI_MODEL=groq/gpt']));
});

describe('env', () => {
  test.each([
    { shell: 'sh', line: "export OPENAI_API_KEY='sk-sluice-", unset: 'unset ANTHROPIC_API_KEY' },
    { shell: 'fish', line: "set -gx OPENAI_API_KEY 'sk-sluice-", unset: 'set -e ANTHROPIC_API_KEY' },
    { shell: 'powershell', line: "$env:OPENAI_API_KEY = 'sk-sluice-", unset: 'Remove-Item Env:ANTHROPIC_API_KEY' },
    { shell: 'cmd', line: 'set "OPENAI_API_KEY=sk-sluice-', unset: 'set "ANTHROPIC_API_KEY="' },
  ])('prints the variables for $shell', async ({ shell, line, unset }) => {
    const folder = temporaryFolder();
    await runJson(['key', 'create', 'mine', '--data-dir', folder]);
    const { stdout } = await runVerb(['env', '--shell', shell, '--data-dir', folder]);
    expect(stdout).toContain(line);
    expect(stdout).toContain(unset);
  });

  test('quotes a model so that a shell reads it as it is', async () => {
    const folder = temporaryFolder();
    await runJson(['key', 'create', 'mine', '--data-dir', folder]);
    const model = 'it\'s $HOME `x` \\ "y"';
    const { stdout } = await runVerb(['env', '--shell', 'sh', '--model', model, '--data-dir', folder]);
    const { stdout: read } = await runCli([
      'run',
      '--data-dir',
      folder,
      '--',
      'sh',
      '-c',
      `${stdout}\nprintf %s "$OPENAI_MODEL"`,
    ]);
    expect(read).toBe(model);
  });

  test('takes no expired key, and an address that can be reached although Sluice listens on all', async () => {
    const folder = temporaryFolder();
    for (const id of ['expired', 'mine']) await runJson(['key', 'create', id, '--expires', '1d', '--data-dir', folder]);
    await runVerb(['settings', 'set', 'host', '0.0.0.0', '--data-dir', folder]);
    const [path, expiresAt] = [join(folder, 'config.json'), '2026-01-01T00:00:00.000Z'];
    const config = JSON.parse(readFileSync(path, 'utf8'));
    const keys = config.keys.map((key: object, index: number) => (index === 0 ? { ...key, expiresAt } : key));
    writeFileSync(path, JSON.stringify({ ...config, keys }));
    const { stdout, stderr } = await runVerb(['env', '--shell', 'sh', '--data-dir', folder]);
    expect(stderr).toContain('With key "mine"');
    expect(stdout).toContain("OPENAI_BASE_URL='http://127.0.0.1:4810/v1'");
  });

  test('says how to get a key where none can be shown', async () => {
    const { code, stderr } = await runVerb(['env', '--data-dir', temporaryFolder()]);
    expect(code).toBe(1);
    expect(stderr).toContain('sluice key create');
  });

  test('key create --export prints the variables with the new key', async () => {
    const { stdout, stderr } = await runVerb(['key', 'create', 'mine', '--export', '--data-dir', temporaryFolder()]);
    expect(stdout).toMatch(
      /^export SLUICE_KEY='sk-sluice-\w+'\nexport SLUICE_API_KEY='sk-sluice-\w+'\nexport OPENAI_BASE_URL='http:\/\/127\.0\.0\.1:4810\/v1'\n/,
    );
    expect(stderr).toContain('Key "mine"');
  });
});
