/** @suite long */
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { begun, eventually } from '../../support/eventually.ts';
import { onlyIf } from '../../support/only-if.ts';
import { get } from '../../support/program.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { eventStream, json, startUpstream } from '../../support/upstream.ts';
import { exampleAt } from '../config/config-folder.ts';
import { endProgramsAfterEach, runCli, serve, spawnCli, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

const stopLater = stopAfterEach();

describe('the end', () => {
  test('by SIGTERM lets a running stream finish and is 0', async () => {
    let finish = () => {};
    const upstream = await stopLater(
      startUpstream((_request, response) => {
        eventStream(response);
        response.write(
          'data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
        );
        finish = () => response.end('data: [DONE]\n\n');
      }),
    );
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
    const isRefused = () =>
      fetch(`${serving.ready.baseUrl}/models`).then(
        () => false,
        () => true,
      );
    await eventually(isRefused);
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

  test('waits for a load balancer with --shutdown-delay: it still serves, but is not ready', async () => {
    const serving = await serve(temporaryFolder(), ['--shutdown-delay', '60', '--grace-period', '5']);
    const readyz = async () => (await fetch(new URL('/readyz', serving.ready.baseUrl))).status;
    expect(await readyz()).toBe(200);
    const ended = serving.end();
    await eventually(() => serving.output.stderr.includes('in 65 s at the latest'));
    await eventually(async () => (await readyz()) === 503);
    expect((await get(`${serving.ready.baseUrl}/models`, serving.ready.key ?? '')).status).toBe(200);
    const again = setInterval(() => serving.child.kill('SIGTERM'), 200);
    expect(await ended).toBe(143);
    clearInterval(again);
  });

  test('refuses times that are none', async () => {
    const refused = await runCli(['serve', '--grace-period', 'soon', '--data-dir', temporaryFolder()]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('a number of seconds from 0 to 86400') });
  });

  test('is immediate on a second signal', async () => {
    const upstream = await stopLater(startUpstream((_request, response) => eventStream(response)));
    const { serving, key } = await serveUpstream(upstream.baseUrl);
    const request = begun(
      fetch(`${serving.ready.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-x', stream: true, messages: [] }),
      }),
    );
    // Awaited from now on, because it is broken off before the process has ended.
    const brokenOff = expect(request).rejects.toThrow();
    await eventually(() => upstream.seen.length === 1);
    const ended = serving.end('SIGINT');
    await eventually(() => serving.output.stderr.includes('SIGINT'));
    const again = setInterval(() => serving.child.kill('SIGINT'), 200);
    expect(await ended).toBe(130);
    clearInterval(again);
    await brokenOff;
  });

  test('is clean if one Ctrl+C arrives twice, as it does through npm', async () => {
    let finish = () => {};
    const upstream = await stopLater(
      startUpstream((_request, response) => {
        finish = () => json(response, { object: 'chat.completion' });
      }),
    );
    const { serving, key } = await serveUpstream(upstream.baseUrl);
    const request = begun(
      fetch(`${serving.ready.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-x', messages: [] }),
      }),
    );
    await eventually(() => upstream.seen.length === 1);
    const ended = serving.end('SIGINT');
    await eventually(() => serving.output.stderr.includes('SIGINT'));
    serving.child.kill('SIGINT');
    finish();
    expect((await request).status).toBe(200);
    expect(await ended).toBe(0);
  });

  test.runIf(onlyIf(process.platform !== 'win32', 'Windows has no SIGABRT'))(
    'is immediate with SIGABRT, even after it has written its configuration',
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

async function serveUpstream(baseUrl: string, parameters: string[] = []) {
  const folder = temporaryFolder();
  const file = join(folder, 'sluice.json');
  writeFileSync(file, JSON.stringify(exampleAt(baseUrl)));
  const env = { SLUICE_KEY: 'key', MAIN_API_KEY: 'upstream-key' };
  return { serving: await serve(folder, ['--config', file, ...parameters], { env }), key: env.SLUICE_KEY, folder };
}

describe('sluice stop', () => {
  /** A Sluice with a grace period of ten minutes and a request that runs until `finish` is called. */
  async function serveRunningRequest() {
    const held = { finish: () => {} };
    const upstream = await stopLater(
      startUpstream((_request, response) => {
        held.finish = () => json(response, { object: 'chat.completion' });
      }),
    );
    const { serving, key, folder } = await serveUpstream(upstream.baseUrl, ['--grace-period', '600']);
    const request = begun(
      fetch(`${serving.ready.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-x', messages: [] }),
      }),
    );
    await eventually(() => upstream.seen.length === 1);
    return { held, folder, request, pid: serving.ready.pid };
  }

  test('waits as long as the grace period of the running Sluice allows, and says so', async () => {
    const { held, folder, request, pid } = await serveRunningRequest();
    const { output, ended } = spawnCli(['stop', '--data-dir', folder]);
    const note = `Waiting for the running requests of process ${pid}, 605 s at the longest.\n`;
    await eventually(() => output.stderr === note);
    held.finish();
    expect((await request).status).toBe(200);
    expect(await ended).toBe(0);
    expect(output.stdout).toBe(`Sluice (process ${pid}) has ended.\n`);
  });

  test('gives up if the running Sluice lasts longer than it announced', async () => {
    const { held, folder, request, pid } = await serveRunningRequest();
    const path = join(folder, 'instance.json');
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), longestEndMs: 0 }));
    const stopped = await runCli(['stop', '--data-dir', folder]);
    expect(stopped).toMatchObject({ code: 1, stderr: expect.stringContaining('has not ended within 5 seconds') });
    expect(process.kill(pid, 0)).toBe(true);
    held.finish();
    expect((await request).status).toBe(200);
  });
});

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
