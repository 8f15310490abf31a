/**
 * `sluice run` with coding agents from npm that have no configuration: they reach the demo.
 * `test/support/installed-programs.ts` describes where they are searched. No command requires them.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findProgram } from '../../support/installed-programs.ts';
import { onlyIf } from '../../support/only-if.ts';
import { endProgramsAfterEach, runCli } from './run-cli.ts';

endProgramsAfterEach();
const offline = { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' };
const programs = [
  { command: 'claude', package: '@anthropic-ai/claude-code', parameters: ['-p'] },
  { command: 'codex', package: '@openai/codex', parameters: ['exec', '--skip-git-repo-check'] },
  { command: 'gemini', package: '@google/gemini-cli', parameters: ['--skip-trust', '-p'] },
  { command: 'opencode', package: 'opencode-ai', parameters: ['run'] },
  { command: 'qwen', package: '@qwen-code/qwen-code', parameters: ['-p'] },
];

/**
 * Not in the system's temporary folder, because Gemini CLI reads no settings below a folder that others can write to.
 */
const parent = join(import.meta.dirname, '../../../test-results');
let folder: string;
beforeEach(() => {
  mkdirSync(parent, { recursive: true });
  folder = mkdtempSync(join(parent, 'run-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

describe.each(programs)('$package', ({ command, package: name, parameters }) => {
  const program = findProgram(command);
  const isFound = onlyIf(program !== null, `${command} is not found (npm install ${name})`);

  test.runIf(isFound)('answers through Sluice when it is started by "sluice run"', async () => {
    const line = [
      'run',
      '--data-dir',
      join(folder, 'data'),
      '--model',
      'demo-chat',
      '--',
      program ?? '',
      ...parameters,
    ];
    const { code, stdout, stderr } = await runCli([...line, 'Say hello'], { env: { HOME: folder, ...offline } });
    expect(stdout, stderr).toContain('built-in demo');
    expect(code).toBe(0);
  });
});
