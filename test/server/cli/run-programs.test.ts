/**
 * `sluice run` with coding agents from npm and PyPI: they reach the demo, whatever their own settings say.
 * `test/support/installed-programs.ts` describes where they are searched. No command requires them.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RequestView } from '../../../server/contract/request-views.ts';
import { findProgram, programTimeoutMs } from '../../support/installed-programs.ts';
import { onlyIf } from '../../support/only-if.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { elsewhere, hostilePrograms } from './hostile-settings.ts';
import { endProgramsAfterEach, runCli, runJson, runVerb, serve } from './run-cli.ts';

endProgramsAfterEach();

const nowhere = 'http://127.0.0.1:9';
/** They reach nothing but loopback. */
const offline = {
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  CONTINUE_TELEMETRY_ENABLED: '0',
  // Otherwise in the root of the repository.
  AIDER_CHAT_HISTORY_FILE: '/dev/null',
  AIDER_INPUT_HISTORY_FILE: '/dev/null',
  HTTPS_PROXY: nowhere,
  HTTP_PROXY: nowhere,
};

/**
 * Not in the system's temporary folder, because Gemini CLI reads no settings below a folder that others can write to.
 */
const parent = join(import.meta.dirname, '../../../test-results');
let folder: string;
let listener: ScriptedUpstream;
beforeEach(async () => {
  mkdirSync(parent, { recursive: true });
  folder = mkdtempSync(join(parent, 'run-'));
  for (const name of ['data', 'home', 'work']) mkdirSync(join(folder, name));
  listener = await startUpstream((_, response) => void response.writeHead(400).end());
});
afterEach(async () => {
  await listener.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

const clients: Record<string, string> = {
  claude: 'claude-code',
  codex: 'codex',
  gemini: 'gemini-cli',
  opencode: 'opencode',
  qwen: 'qwen-code',
  cn: 'continue',
  aider: 'aider',
};

describe.each(hostilePrograms)('$package', ({ command, package: name, parameters, files, shell }) => {
  const program = findProgram(command);
  const isFound = onlyIf(program !== null, `${command} is not found (npm install ${name})`);
  const dataDir = () => ['--data-dir', join(folder, 'data')];

  function run(env: Record<string, string> = {}) {
    const line = ['run', ...dataDir(), '--model', 'demo-chat', '--', program ?? '', ...parameters, 'Say hello'];
    return runCli(line, { cwd: join(folder, 'work'), env: { ...offline, ...env, HOME: join(folder, 'home') } });
  }

  async function expectAnswered(env?: Record<string, string>): Promise<void> {
    const { code, stdout, stderr } = await run(env);
    expect(stdout, stderr).toContain('built-in demo');
    expect(code).toBe(0);
    const { stdout: log } = await runVerb(['log', '--json', ...dataDir()]);
    const requests = log
      .trim()
      .split('\n')
      .map((line): RequestView => JSON.parse(line));
    // Connecting asks the model that it sets, with the person's key.
    const ofRun = requests.filter(({ keyId }) => keyId !== 'mine');
    expect(new Set(ofRun.flatMap(({ modelAsked }) => modelAsked ?? []))).toEqual(new Set(['demo-chat']));
    expect(listener.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([]);
  }

  const here = (text: string) => text.replaceAll(elsewhere, listener.origin);

  test.runIf(isFound)('answers through Sluice when it has no settings', { timeout: 2 * programTimeoutMs }, async () => {
    await expectAnswered();
  });

  test.runIf(isFound)(
    'sends no prompt and no key elsewhere, whatever its settings, the project’s and the shell say',
    { timeout: 2 * programTimeoutMs },
    async () => {
      for (const place of ['home', 'work']) {
        for (const [file, text] of Object.entries(files)) {
          const path = join(folder, place, file);
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, here(text));
        }
      }
      await expectAnswered(Object.fromEntries(Object.entries(shell).map(([key, value]) => [key, here(value)])));
    },
  );

  test.runIf(isFound)(
    'asks the model of the run after "connect --write" has set another one, at an address that is gone',
    { timeout: 2 * programTimeoutMs },
    async () => {
      const env = { HOME: join(folder, 'home') };
      await runJson(['key', 'create', 'mine', ...dataDir()]);
      const { end } = await serve(join(folder, 'data'));
      const connect = ['connect', clients[command] ?? '', '--write', '--yes', '--model', 'demo-reasoner'];
      const { code, stderr } = await runVerb([...connect, '--key', 'mine', ...dataDir()], { env });
      await end();
      expect(code, stderr).toBe(0);
      await expectAnswered();
    },
  );
});

const claude = findProgram('claude');
test.runIf(onlyIf(claude !== null, 'claude is not found (npm install @anthropic-ai/claude-code)'))(
  'Claude Code asks for the models that it can offer, as it would not behind another address',
  { timeout: 2 * programTimeoutMs },
  async () => {
    const { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: _, ...env } = offline;
    const data = ['--data-dir', join(folder, 'data')];
    const line = ['run', ...data, '--model', 'demo-chat', '--', claude ?? '', '--print', 'Say hello'];
    const { stdout, stderr } = await runCli(line, {
      cwd: join(folder, 'work'),
      env: { ...env, HOME: join(folder, 'home') },
    });
    expect(stdout, stderr).toContain('built-in demo');
    const { stdout: log } = await runVerb(['log', '--json', ...data]);
    const routes = log
      .trim()
      .split('\n')
      .map((each): unknown => JSON.parse(each).route);
    expect(routes).toEqual(expect.arrayContaining(['/v1/models', '/v1/messages']));
  },
);
