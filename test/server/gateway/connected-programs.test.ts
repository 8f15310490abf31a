/** Coding agents installed from npm and PyPI. Apply sets them up in a file with other settings, and they run with that alone. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { clientIdOf } from '../../../server/contract/known-clients.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { findProgram, programTimeoutMs, runProgram } from '../../support/installed-programs.ts';
import { noteFile, noteReaders, noteText } from '../../support/note-readers.ts';
import { onlyIf } from '../../support/only-if.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { clientSettings } from '../connect/client-settings.ts';

interface ConnectedAgent {
  client: string;
  command: string;
  /** The command that installs it. */
  install: string;
  /** Unrelated settings that the program itself accepts. */
  files: readonly string[];
  parameters: readonly string[];
  env?: Record<string, string>;
}

const agents: readonly ConnectedAgent[] = [
  {
    client: 'codex',
    command: 'codex',
    install: 'npm install @openai/codex',
    files: ['.codex/config.toml'],
    parameters: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
  },
  {
    client: 'claude-code',
    command: 'claude',
    install: 'npm install @anthropic-ai/claude-code',
    files: ['.claude/settings.json'],
    parameters: ['--allowedTools', 'Bash', '--print'],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  },
  {
    client: 'gemini-cli',
    command: 'gemini',
    install: 'npm install @google/gemini-cli',
    files: ['.gemini/settings.json', '.gemini/.env'],
    parameters: ['--approval-mode', 'yolo', '--skip-trust', '-p'],
  },
  {
    client: 'opencode',
    command: 'opencode',
    install: 'npm install opencode-ai',
    files: ['.config/opencode/opencode.jsonc'],
    parameters: ['run'],
    env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
  },
  {
    client: 'qwen-code',
    command: 'qwen',
    install: 'npm install @qwen-code/qwen-code',
    files: ['.qwen/settings.json'],
    parameters: ['--yolo', '-p'],
    // It uses a proxy even for loopback.
    env: { HTTPS_PROXY: '', HTTP_PROXY: '' },
  },
  {
    client: 'continue',
    command: 'cn',
    install: 'npm install @continuedev/cli',
    files: [],
    parameters: ['--config', '.continue/config.yaml', '--auto', '-p'],
  },
  {
    client: 'aider',
    command: 'aider',
    install: 'pip install aider-chat',
    files: ['.aider.conf.yml', '.aider.model.settings.yml'],
    // It offers no tools to the model, and sends files itself.
    parameters: [
      ...['--no-git', '--yes-always', '--no-check-update', '--no-show-release-notes', '--analytics-disable'],
      ...['--no-show-model-warnings', '--no-pretty', '--read', noteFile, '--message'],
    ],
  },
];

const chat = noteReaders.chat ?? expect.fail('There is no script for chat completions.');
let gateway: TestGateway;
let upstream: ScriptedUpstream;
let home: string;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'sluice-connected-'));
  writeFileSync(join(home, noteFile), noteText);
  upstream = await startUpstream(chat.script);
  const providers = [
    mainProvider(upstream.origin + chat.basePath, { id: 'chat', models: [chat.model], ...chat.dialect }),
  ];
  const keys = [{ id: 'k1', group: 'default', secret: 'env:TOOL_KEY' }];
  gateway = await startGateway({
    config: { providers, keys },
    secrets: { 'provider/chat/c1': chat.secret },
    ports: { env: { HOME: home, TOOL_KEY: testKey } },
  });
});
afterEach(async () => {
  await gateway.stop();
  await upstream.stop();
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
});

describe.each(agents)('$client', ({ client, command, install, files, parameters, env }) => {
  const program = findProgram(command);
  const isFound = onlyIf(program !== null, `${command} is not found (${install})`);

  test.runIf(isFound)(
    'works with the configuration that Apply has written, and its request is recorded',
    { timeout: 2 * programTimeoutMs },
    async () => {
      for (const file of files) {
        mkdirSync(dirname(join(home, file)), { recursive: true });
        writeFileSync(join(home, file), clientSettings[file] ?? '');
      }
      const wanted = { client, key: 'k1', model: `chat/${chat.model}` };
      const { fingerprint } = await gateway.gateway.query({ type: 'connect-preview', ...wanted });
      await gateway.gateway.execute({ type: 'connect.apply', ...wanted, fingerprint });
      const outcome = await runProgram(program ?? '', {
        parameters: [...parameters, `What does ${noteFile} say?`],
        folder: home,
        env: { ...env },
      });
      expect(outcome.said, `${outcome.said}${outcome.complained}`).toContain(noteText);
      expect(clientIdOf((await gateway.record()).client ?? '')).toBe(client);

      const undo = await gateway.gateway.query({ type: 'connect-undo-preview', client });
      await gateway.gateway.execute({ type: 'connect.undo', client, fingerprint: undo.fingerprint });
      for (const file of files) {
        expect(existsSync(join(home, file))).toBe(true);
        expect(readFileSync(join(home, file), 'utf8')).not.toContain(gateway.origin);
      }
    },
  );
});
