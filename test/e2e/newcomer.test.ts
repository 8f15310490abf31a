/**
 * A newcomer's first steps according to the README: `npm start` in this checkout, then its examples and those of
 * `docs/command-line.md`, then Ctrl-C.
 *
 * @suite long
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkout, ensureBuilt, type RunningProgram } from '../support/program.ts';
import { json, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';
import { interrupt, newcomerEnv, type Shown, startByNpm, whatIsShown } from './sluice.ts';

const read = (path: string) => readFileSync(join(checkout, path), 'utf8');
const readme = read('README.md');
const documented = 'http://127.0.0.1:4810/v1';

let home: string;
let started: RunningProgram;
let env: Record<string, string>;
let shown: Shown;
beforeAll(async () => {
  await ensureBuilt();
  home = mkdtempSync(join(tmpdir(), 'sluice-newcomer-'));
  env = newcomerEnv(home);
  started = startByNpm(checkout, env);
  shown = await whatIsShown(started);
});
afterAll(async () => {
  interrupt(started, 'SIGKILL');
  await started.ended;
  rmSync(home, { recursive: true, force: true });
});

/** The first block in this language that contains the text. */
function snippet(language: string, holds: string): string {
  const blocks = [...readme.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  const found = blocks.find(([, name, code]) => name === language && code?.includes(holds))?.[2];
  if (!found) throw new Error(`The README has no ${language} with ${holds}.`);
  return found;
}

async function run(program: string, parameters: string[], more: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(program, parameters, { cwd: checkout, env: { ...env, ...more } });
  return stdout;
}

describe('npm start', () => {
  test('says what this machine lacks in a line each, and shows base URL, key, window and a curl line', () => {
    expect(shown.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(shown.key).toMatch(/^sk-sluice-\w{40,}$/);
    expect(shown.window).toContain(`${new URL(shown.baseUrl).origin}/control/session?token=`);
    const lines = started.output.stderr.trim().split('\n');
    expect(lines.filter((line) => line.includes('window is in the browser'))).toHaveLength(1);
    expect(started.output.stdout).toContain('npm run -s sluice -- provider add --help');
  });

  test('shows a window that opens, once', async () => {
    const [response, again] = [
      await fetch(shown.window, { redirect: 'manual' }),
      await fetch(shown.window, { redirect: 'manual' }),
    ];
    expect([response.status, response.headers.get('location')]).toEqual([303, '/']);
    expect(again.status).toBe(403);
    const page = await fetch(new URL('/', shown.baseUrl));
    expect(await page.text()).toContain('<title>Sluice</title>');
  });

  test('shows a curl line that answers as it is', async () => {
    const reply = await run('sh', ['-c', `${shown.curl} -s`]);
    expect(JSON.parse(reply).choices[0].message.content).not.toBe('');
  });
});

describe('the README', () => {
  test('has a curl call that answers', async () => {
    const call = snippet('sh', 'curl').replace(documented, shown.baseUrl).replace('curl ', 'curl -s ');
    const reply = await run('sh', ['-c', call], { SLUICE_KEY: shown.key });
    expect(JSON.parse(reply)).toMatchObject({ object: 'chat.completion', model: 'demo-chat' });
  });

  test('has a program for Node that prints an answer', async () => {
    const program = snippet('js', 'openai').replace(documented, shown.baseUrl).replace('sk-sluice-…', shown.key);
    expect(program).not.toContain(documented);
    const reply = await run(process.execPath, ['--input-type=module', '-e', program]);
    expect(reply.trim()).not.toBe('');
  });

  test('has a program for Python at the same address with the same model', () => {
    const program = snippet('python', 'OpenAI');
    expect(program).toContain(`base_url="${documented}", api_key="sk-sluice-…"`);
    expect(program).toContain('model="demo-chat"');
  });

  test('and the guide to the command line have commands that all do what they say', async () => {
    const upstream = await startUpstream(({ method }, response) =>
      json(
        response,
        method === 'POST'
          ? { object: 'chat.completion', content: [], choices: [{ message: { role: 'assistant', content: 'OK' } }] }
          : { object: 'list', data: [{ id: 'gpt-5', object: 'model' }] },
      ),
    );
    const commands = [...readme.matchAll(/^npm run -s sluice -- (.*?)(?: +# .*)?$/gm)].map(([, verb]) => verb ?? '');
    expect(commands).toEqual(['provider add openai']);
    const guide = [...read('docs/command-line.md').matchAll(/^sluice (.*?)(?: +# .*)?$/gm)].map(
      ([, verb]) => verb ?? '',
    );
    expect(guide.length).toBeGreaterThan(20);
    for (const command of guide) await runCommand(command, upstream);
    expect(guide).toEqual(expect.arrayContaining(commands));
    expect(upstream.seen.map(({ headers }) => headers.authorization)).toContain('Bearer planted');
    await upstream.stop();
  });
});

describe('the end', () => {
  const data = (file: string) => join(home, 'data', file);

  test('by SIGINT is 0 through npm', async () => {
    const { pid } = JSON.parse(readFileSync(data('instance.json'), 'utf8'));
    process.kill(pid, 'SIGINT');
    expect(await started.ended).toBe(0);
    expect(started.output.stderr).toContain('SIGINT: Sluice ends');
    await expect(fetch(`${shown.baseUrl}/models`)).rejects.toThrow();
  });

  test('by Ctrl-C in the terminal is in order, and the next start goes on with the same key', async () => {
    started = startByNpm(checkout, env);
    const key = shown.key;
    shown = await whatIsShown(started);
    expect(shown.key).toBe('');
    expect(shown.curl).toContain('$SLUICE_KEY');
    const reply = await run('sh', ['-c', `${shown.curl} -s`], { SLUICE_KEY: key });
    expect(JSON.parse(reply)).toHaveProperty('data');
    interrupt(started, 'SIGINT');
    // npm may report the signal, which it receives too. The program has ended properly.
    await started.ended;
    expect(existsSync(data('instance.json'))).toBe(false);
    expect(readFileSync(data('logs/sluice.log'), 'utf8').trim()).toMatch(/"stopped"\}$/);
  });
});

/** Commands that never end, change the system, or start a program that is not here. */
const notRun = /^(?:log --follow|run |terminal$|serve --detach|service install)/;

/** Runs the command as written, except for services on the internet; ID is the latest request. */
async function runCommand(command: string, upstream: ScriptedUpstream): Promise<void> {
  if (notRun.test(command)) return;
  const id = / ID\b/.test(command) ? await latestRequest() : '';
  const here = command
    .replace(/\bID\b/, id)
    .replace(
      /^provider add (openai|groq|anthropic)$/,
      `provider add $1 --url ${upstream.baseUrl} --credential-env EXAMPLE_KEY`,
    )
    .replace(/^provider add ollama$/, `provider add ollama --url ${upstream.baseUrl}`)
    .replace(/https:\S+/, upstream.baseUrl);
  const line = `"${process.execPath}" build/launch.ts ${here}`;
  const said = await run('sh', ['-c', line], { EXAMPLE_KEY: 'planted' });
  expect(said.trim(), command).not.toBe('');
}

async function latestRequest(): Promise<string> {
  const line = `"${process.execPath}" build/launch.ts log --json --limit 1`;
  return JSON.parse(await run('sh', ['-c', line])).id;
}
