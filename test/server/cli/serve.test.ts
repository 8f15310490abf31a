import { exec } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import OpenAI from 'openai';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { begun } from '../../support/begun.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyIf } from '../../support/only-if.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { endProgramsAfterEach, runCli, serve, serveForPerson, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

// Whole programs are started here, many of them; on a busy machine that takes its time.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

let upstream: ScriptedUpstream | undefined;
afterEach(async () => {
  await upstream?.stop();
  upstream = undefined;
});

/** The example of the documentation, with the address of a test's upstream. */
function exampleConfig(baseUrl: string) {
  return {
    version: 1,
    providers: [
      {
        id: 'main',
        dialect: 'openai',
        baseUrl,
        credentials: [{ id: 'c1', secret: 'env:MAIN_API_KEY' }],
        models: ['gpt-x', '*'],
        timeouts: { connectMs: 5000, firstByteMs: 60000, idleMs: 120000 },
      },
    ],
    aliases: [{ name: 'fast', targets: [{ provider: 'main', model: 'gpt-x', priority: 0, weight: 1 }] }],
    groups: [{ id: 'default', models: ['*'], providers: ['*'] }],
    keys: [{ id: 'k1', group: 'default', secret: 'env:SLUICE_KEY' }],
  };
}

function get(url: string, key: string): Promise<Response> {
  return fetch(url, { headers: { authorization: `Bearer ${key}` } });
}

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
    upstream = await startUpstream();
    const folder = temporaryFolder();
    const file = join(folder, 'sluice.json');
    writeFileSync(file, JSON.stringify(exampleConfig(upstream.baseUrl)));
    const env = { SLUICE_KEY: 'a key with spaces', MAIN_API_KEY: 'upstream-key' };
    const output = await serveForPerson(['--data-dir', folder, '--config', file], env);
    const line = output.split('\n').find((each) => each.trim().startsWith('curl '));
    const shell = { env: { PATH: process.env.PATH, no_proxy: '*', ...env } };
    const { stdout } = await promisify(exec)(`${line} -s`, shell);
    expect(JSON.parse(stdout).data.map((model: { id: string }) => model.id)).toContain('fast');
  });
});

describe('a declarative configuration', () => {
  test('serves the example, with secrets from the environment and a key that holds spaces', async () => {
    upstream = await startUpstream((request, response) =>
      json(response, { model: JSON.parse(`${request.body}`).model }),
    );
    const folder = temporaryFolder();
    const file = join(folder, 'sluice.json');
    writeFileSync(file, JSON.stringify(exampleConfig(upstream.baseUrl)));
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

  test('a port that another Sluice has is told with that one and its data folder', async () => {
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
      expect(readFileSync(`/proc/${ready.pid}/comm`, 'utf8').trim()).toBe('sluice');
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

  test('a data folder that cannot be used is told with what to do', async () => {
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

  test('an address that is not of this machine is told', async () => {
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

describe('the end', () => {
  test('by SIGTERM lets a running stream finish and is 0', async () => {
    let finish = () => {};
    upstream = await startUpstream((_request, response) => {
      eventStream(response);
      response.write(
        'data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
      );
      finish = () => response.end('data: [DONE]\n\n');
    });
    const { serving, key } = await serveUpstream(upstream.baseUrl);
    const response = await fetch(`${serving.ready.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-x', stream: true, messages: [] }),
    });
    const reader = response.body?.getReader();
    await reader?.read();
    const ended = serving.end();
    await eventually(() => serving.output.stderr.includes('SIGTERM'));
    await expect(fetch(`${serving.ready.baseUrl}/models`)).rejects.toThrow();
    finish();
    let rest = '';
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read())
      rest += Buffer.from(piece.value);
    expect(rest).toContain('[DONE]');
    expect(await ended).toBe(0);
  });

  test('by SIGTERM lets a stream finish also on a first run, which has written its configuration', async () => {
    const serving = await serve(temporaryFolder());
    const response = await fetch(`${serving.ready.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${serving.ready.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'demo-chat',
        stream: true,
        messages: [{ role: 'user', content: 'a few words '.repeat(50) }],
      }),
    });
    const reader = response.body?.getReader();
    await reader?.read();
    const ended = serving.end();
    let rest = '';
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read())
      rest += Buffer.from(piece.value);
    expect(rest).toContain('[DONE]');
    expect(await ended).toBe(0);
  });

  test('comes at once on a second signal', async () => {
    upstream = await startUpstream((_request, response) => eventStream(response));
    const { serving, key } = await serveUpstream(upstream.baseUrl);
    const request = begun(
      fetch(`${serving.ready.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-x', stream: true, messages: [] }),
      }),
    );
    // Awaited from now on: it breaks off before the process has ended.
    const brokenOff = expect(request).rejects.toThrow();
    await eventually(() => upstream?.seen.length === 1);
    const ended = serving.end('SIGINT');
    await eventually(() => serving.output.stderr.includes('SIGINT'));
    const again = setInterval(() => serving.child.kill('SIGINT'), 200);
    expect(await ended).toBe(130);
    clearInterval(again);
    await brokenOff;
  });

  test('is in order where one Ctrl+C comes twice, as it does through npm', async () => {
    let finish = () => {};
    upstream = await startUpstream((_request, response) => {
      finish = () => json(response, { object: 'chat.completion' });
    });
    const { serving, key } = await serveUpstream(upstream.baseUrl);
    const request = begun(
      fetch(`${serving.ready.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-x', messages: [] }),
      }),
    );
    await eventually(() => upstream?.seen.length === 1);
    const ended = serving.end('SIGINT');
    await eventually(() => serving.output.stderr.includes('SIGINT'));
    serving.child.kill('SIGINT');
    finish();
    expect((await request).status).toBe(200);
    expect(await ended).toBe(0);
  });

  test.runIf(onlyIf(process.platform !== 'win32', 'Windows has no SIGABRT'))(
    'comes with SIGABRT at once, also after it has written its configuration',
    async () => {
      const { child } = await serve(temporaryFolder());
      const ended = once(child, 'exit');
      child.kill('SIGABRT');
      expect(await ended).toEqual([null, 'SIGABRT']);
    },
  );

  test('by SIGKILL leaves a folder that the next start takes over', async () => {
    const folder = temporaryFolder();
    const killed = await serve(folder);
    await killed.end('SIGKILL');
    const { ready } = await serve(folder);
    expect((await get(`${ready.baseUrl}/models`, killed.ready.key ?? '')).status).toBe(200);
  });
});

describe('what it leaves on the disk', () => {
  test('is a log line a request, without key and body', async () => {
    const folder = temporaryFolder();
    const { ready, end } = await serve(folder);
    const client = new OpenAI({ baseURL: ready.baseUrl, apiKey: ready.key ?? '', maxRetries: 0 });
    await client.chat.completions.create({ model: 'demo-chat', messages: [{ role: 'user', content: 'planted-body' }] });
    expect(await end()).toBe(0);
    const log = readFileSync(join(folder, 'logs/sluice.log'), 'utf8');
    const lines = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.msg)).toEqual(['started', 'request', 'stopped']);
    expect(lines[1]).toMatchObject({
      route: 'POST /v1/chat/completions',
      model: 'demo-chat',
      provider: 'demo',
      status: 200,
    });
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, file);
      if (!file.endsWith('/') && !['tmp', 'logs'].includes(file)) {
        const bytes = readFileSync(path, 'latin1');
        expect(bytes, file).not.toContain(ready.key);
        expect(bytes, file).not.toContain('planted-body');
      }
    }
  });

  test('is readable by its user only', async () => {
    if (process.platform === 'win32') return;
    const folder = join(temporaryFolder(), 'data');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    const { end } = await serve(folder);
    await end();
    const open = readdirSync(folder, { recursive: true, withFileTypes: true })
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => path !== join(folder, 'tmp/CACHEDIR.TAG'));
    expect([folder, ...open].filter((path) => (statSync(path).mode & 0o077) !== 0)).toEqual([]);
  });
});

test('a machine without a keychain is served, and told so, when a secret is stored', async () => {
  const folder = temporaryFolder();
  const { ready, output } = await serve(folder, [], { env: { SLUICE_SECRETS: 'auto', DBUS_SESSION_BUS_ADDRESS: '' } });
  expect(ready.key).toBeDefined();
  expect(output.stderr).toContain('No OS keychain answers here');
  expect(output.stderr).toContain('encrypted file');
});

async function serveUpstream(baseUrl: string) {
  const folder = temporaryFolder();
  const file = join(folder, 'sluice.json');
  writeFileSync(file, JSON.stringify(exampleConfig(baseUrl)));
  const env = { SLUICE_KEY: 'key', MAIN_API_KEY: 'upstream-key' };
  return { serving: await serve(folder, ['--config', file], { env }), key: env.SLUICE_KEY };
}

describe('serve --detach', () => {
  test('returns once it listens, and goes on until it is stopped', async () => {
    const folder = temporaryFolder();
    const started = await runCli(['serve', '--detach', '--json', '--port', '0', '--data-dir', folder]);
    expect(started).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Error') });
    const ready = JSON.parse(started.stdout) as { baseUrl: string; key: string; pid: number };
    expect((await get(`${ready.baseUrl}/models`, ready.key)).status).toBe(200);
    expect(await runCli(['stop', '--data-dir', folder])).toMatchObject({ code: 0 });
    expect(() => process.kill(ready.pid, 0)).toThrow('ESRCH');
  });

  test('says why it could not start, with the same exit code as in the foreground', async () => {
    const folder = temporaryFolder();
    await serve(folder);
    const started = await runCli(['serve', '--detach', '--port', '0', '--data-dir', folder]);
    expect(started).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('already running') });
  });
});

describe('a declarative configuration that changes', () => {
  const modelsOf = async (ready: { baseUrl: string }) => {
    const listed = (await (await get(`${ready.baseUrl}/models`, 'local key')).json()) as { data: { id: string }[] };
    return listed.data.map(({ id }) => id);
  };
  const withModels = (...models: string[]) => {
    const config = exampleConfig('http://127.0.0.1:9/v1');
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
});
