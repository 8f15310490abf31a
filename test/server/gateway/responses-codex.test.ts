import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { onlyIf } from '../../support/only-if.ts';
import { plainEnvironment } from '../../support/plain-environment.ts';
import { bodyOf, sendStream, streamOf, strictChat, toolCall } from '../../support/strict-chat.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import type { Json } from '../translate/translating.ts';

const isInstalled = await promisify(execFile)('codex', ['--version']).then(
  () => true,
  () => false,
);
const runsCodex = onlyIf(isInstalled, 'Codex CLI is not on the PATH (npm install --global @openai/codex)');

let folder: string;
let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-codex-'));
  upstream = await startUpstream();
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl, { serves: ['chat'] })] } });
  writeFileSync(
    join(folder, 'config.toml'),
    `model = "qwen3-coder"
model_provider = "sluice"

[model_providers.sluice]
name = "Sluice"
base_url = "${gateway.baseUrl}"
env_key = "SLUICE_KEY"
wire_api = "responses"
`,
  );
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

function startCodex(prompt: string): ChildProcess {
  const parameters = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt];
  const env = { ...plainEnvironment, HOME: folder, CODEX_HOME: folder, SLUICE_KEY: testKey };
  return spawn('codex', parameters, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] });
}

test.runIf(runsCodex)(
  'Codex runs a command for a model that has chats alone, and tells what came of it',
  { timeout: 60_000 },
  async () => {
    upstream.answer(
      strictChat(({ messages }, response) => {
        const isFirst = (messages as Json[]).every(({ role }) => role !== 'tool');
        const call = toolCall('call_1', 'exec_command', { cmd: 'echo grüße | tee made.txt' });
        const deltas = isFirst
          ? [{ content: 'I look.' }, { tool_calls: [{ index: 0, ...call }] }]
          : [{ content: 'Done.' }];
        sendStream(response, streamOf(deltas, isFirst ? 'tool_calls' : 'stop'));
      }),
    );
    const codex = startCodex('Say hello with a tool');
    const [said, [exitCode]] = await Promise.all([codex.stdout ? text(codex.stdout) : '', once(codex, 'exit')]);
    expect(exitCode).toBe(0);
    expect(said.trim()).toBe('Done.');
    expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe('grüße\n');
    expect(upstream.seen).toHaveLength(2);
    const last = bodyOf(upstream.seen.at(-1) ?? { method: '', url: '', headers: {}, body: Buffer.from('{}') });
    expect(last.messages).toMatchObject([
      { role: 'system', content: expect.stringContaining('Codex') },
      { role: 'user' },
      { role: 'user', content: 'Say hello with a tool' },
      { role: 'assistant', content: 'I look.', tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', tool_call_id: 'call_1', content: expect.stringContaining('grüße') },
    ]);
  },
);

test('Codex’s question for models gets OpenAI’s list, which it passes over for its own', async () => {
  const response = await gateway.fetch('/models?client_version=0.169.0');
  expect(await response.json()).toMatchObject({ object: 'list', data: [{ id: 'gpt-x' }] });
});
