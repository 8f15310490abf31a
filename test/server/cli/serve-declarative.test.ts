import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { onlyIf } from '../../support/only-if.ts';
import { get } from '../../support/program.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, startUpstream } from '../../support/upstream.ts';
import { exampleAt } from '../config/config-folder.ts';
import { endProgramsAfterEach, runCli, runVerb, serve, spawnCli, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

const stopLater = stopAfterEach();

describe('a declarative configuration', () => {
  test('serves the example, with secrets from the environment and a key that holds spaces', async () => {
    const upstream = await stopLater(
      startUpstream((request, response) => json(response, { model: JSON.parse(`${request.body}`).model })),
    );
    const folder = temporaryFolder();
    const file = join(folder, 'sluice.json');
    writeFileSync(file, JSON.stringify(exampleAt(upstream.baseUrl)));
    const env = { SLUICE_KEY: 'any text is a key, also with spaces', MAIN_API_KEY: 'upstream-key' };
    const { ready } = await serve(folder, ['--config', file], { env });
    expect(ready).not.toHaveProperty('key');
    const client = new OpenAI({ baseURL: ready.baseUrl, apiKey: env.SLUICE_KEY, maxRetries: 0 });
    const reply = await client.chat.completions.create({ model: 'fast', messages: [{ role: 'user', content: 'hi' }] });
    expect(reply.model).toBe('gpt-x');
    expect(upstream.seen[0]?.headers.authorization).toBe('Bearer upstream-key');
    const refused = await runCli(['key', 'create', '--data-dir', folder]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('from a file that Sluice does not write');
    expect(existsSync(join(folder, 'config.json'))).toBe(false);
  });

  test('that is wrong is named, with the place in it', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'sluice.json');
    writeFileSync(file, '{ "version": 1, "providers": [ { "id": "main" } ] }');
    const { code, stdout, stderr } = await runCli(['serve', '--data-dir', folder, '--config', file]);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(file);
    expect(stderr).toContain('providers[0].baseUrl');
  });
});

describe('a declarative configuration that changes', () => {
  const modelsOf = async (ready: { baseUrl: string }) => {
    const listed = (await (await get(`${ready.baseUrl}/models`, 'local key')).json()) as { data: { id: string }[] };
    return listed.data.map(({ id }) => id);
  };
  const withModels = (...models: string[]) => {
    const config = exampleAt('http://127.0.0.1:9/v1');
    return JSON.stringify({ ...config, aliases: [], providers: config.providers.map((each) => ({ ...each, models })) });
  };
  const start = async (file: string) => {
    const env = { SLUICE_KEY: 'local key', MAIN_API_KEY: 'upstream-key' };
    return serve(temporaryFolder(), ['--config', file], { env });
  };

  test('is in force without a restart, and an unusable change leaves what was', async () => {
    const file = join(temporaryFolder(), 'gateway.json');
    writeFileSync(file, withModels('a'));
    const { ready, output } = await start(file);
    expect(await modelsOf(ready)).toEqual(['a']);
    writeFileSync(file, withModels('a', 'bb'));
    await eventually(async () => (await modelsOf(ready)).length === 2);
    expect(await modelsOf(ready)).toEqual(['a', 'bb']);
    writeFileSync(file, '{ "version": 1, "providers": 5 }');
    await eventually(() => output.stderr.includes('The configuration before it stays in force.'));
    expect(await modelsOf(ready)).toEqual(['a', 'bb']);
  });

  test.runIf(onlyIf(process.platform !== 'win32', 'Windows has no SIGHUP'))(
    'is read again on SIGHUP, which ends nothing',
    async () => {
      const file = join(temporaryFolder(), 'gateway.json');
      writeFileSync(file, withModels('a'));
      const { ready, output, child } = await start(file);
      child.kill('SIGHUP');
      await eventually(() => output.stderr.includes('read again and is in force (revision 2)'));
      expect(await modelsOf(ready)).toEqual(['a']);
    },
  );

  test.runIf(onlyIf(existsSync('/proc/self/status'), 'only Linux tells which signals a process catches'))(
    'is served though SIGHUP has come as soon as it is caught, before the configuration is in force',
    async () => {
      const file = join(temporaryFolder(), 'gateway.json');
      writeFileSync(file, withModels('a'));
      const { output, child } = spawnCli(
        ['serve', '--json', '--port', '0', '--data-dir', temporaryFolder(), '--config', file],
        { env: { SLUICE_KEY: 'local key', MAIN_API_KEY: 'upstream-key' } },
      );
      const caught = () => /SigCgt:\s*(\w+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? '0';
      await eventually(() => (Number.parseInt(caught().slice(-4), 16) & 1) === 1);
      child.kill('SIGHUP');
      await eventually(() => output.stdout.includes('"event":"ready"'));
      expect(child.exitCode).toBeNull();
    },
  );
});

describe('a credential in a file', () => {
  const start = async () => {
    const upstream = await stopLater(
      startUpstream((_request, response) => json(response, { id: 'chatcmpl-1', choices: [] })),
    );
    const [folder, file] = [temporaryFolder(), join(temporaryFolder(), 'credential')];
    writeFileSync(file, 'first');
    const serving = await serve(folder);
    const line = `provider add --no-test --url ${upstream.baseUrl} --id main --models gpt-x --credential-ref file:${file}`;
    expect(await runVerb([...line.split(' '), '--data-dir', folder])).toMatchObject({ code: 0 });
    const client = new OpenAI({ baseURL: serving.ready.baseUrl, apiKey: serving.ready.key ?? '', maxRetries: 0 });
    const sent = async () => {
      await client.chat.completions.create({ model: 'gpt-x', messages: [{ role: 'user', content: 'hi' }] });
      return upstream.seen.at(-1)?.headers.authorization;
    };
    return { ...serving, folder, file, sent };
  };

  test('is read again when the file changes', async () => {
    const { file, sent } = await start();
    expect(await sent()).toBe('Bearer first');
    writeFileSync(file, 'the second');
    await eventually(async () => (await sent()) === 'Bearer the second');
  });

  test.runIf(onlyIf(process.platform !== 'win32', 'Windows has no SIGHUP'))('is read again on SIGHUP', async () => {
    const { file, sent, child, output } = await start();
    writeFileSync(file, 'the second');
    child.kill('SIGHUP');
    await eventually(() => output.stderr.includes('The files with secrets were read again.'));
    expect(await sent()).toBe('Bearer the second');
  });

  test('is read again if it is that of a setting', async () => {
    const { file, folder, ready } = await start();
    for (const words of [
      ['metrics', 'on'],
      ['metricsToken', `file:${file}`],
    ]) {
      expect(await runVerb(['settings', 'set', ...words, '--data-dir', folder])).toMatchObject({ code: 0 });
    }
    const statusWith = async (token: string) => (await get(new URL('/metrics', ready.baseUrl).href, token)).status;
    // Settings of metrics are in force shortly after they are stored.
    await eventually(async () => (await statusWith('first')) === 200);
    writeFileSync(file, 'the second');
    await eventually(async () => (await statusWith('the second')) === 200);
    expect(await statusWith('first')).toBe(403);
  });
});
