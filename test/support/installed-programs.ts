/**
 * Programs installed from npm and PyPI, found on the PATH or in the folder named by SLUICE_TEST_CLIENTS
 * (`npm install --prefix FOLDER …`, `python3 -m venv FOLDER && FOLDER/bin/pip install …`). `CI=true` does not require
 * them, because some are not available for every system.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { testKey } from './gateway.ts';
import { plainEnvironment } from './program.ts';

// Coding agents as users set them up: the same as in `docs/clients.md` and on the window's Connect screen.

interface Connection {
  origin: string;
  model: string;
  /** The program's HOME and working directory. */
  folder: string;
}

export interface CodingAgent {
  command: string;
  package: string;
  /** The model name for this program. Default: the model after its provider's name. */
  nameOf?: (provider: string, model: string) => string;
  /** Writes the program's files, and returns how it is started. */
  setUp(connection: Connection): { parameters: (prompt: string) => string[]; env: Record<string, string> };
}

function write(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

const withoutProxies = { HTTPS_PROXY: '', HTTP_PROXY: '' };

const signInByKey = { security: { auth: { selectedType: 'gemini-api-key' } } };

export const codingAgents: readonly CodingAgent[] = [
  {
    command: 'claude',
    package: '@anthropic-ai/claude-code',
    // Claude Code drops the thoughts of an answer whose model name differs from the requested one, and Anthropic's
    // answers pass unchanged.
    nameOf: (provider, model) => (provider === 'anthropic' ? model : `${provider}/${model}`),
    setUp: ({ origin, model }) => ({
      parameters: (prompt) => ['--print', prompt, '--allowedTools', 'Bash'],
      env: {
        ANTHROPIC_BASE_URL: origin,
        ANTHROPIC_AUTH_TOKEN: testKey,
        ANTHROPIC_MODEL: model,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
        ENABLE_TOOL_SEARCH: 'true',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    }),
  },
  {
    command: 'codex',
    package: '@openai/codex',
    setUp({ origin, model, folder }) {
      const provider = `name = "Sluice"\nbase_url = "${origin}/v1"\nenv_key = "SLUICE_KEY"\nwire_api = "responses"\n`;
      const head = `model = "${model}"\nmodel_provider = "sluice"\n`;
      write(folder, '.codex/config.toml', `${head}\n[model_providers.sluice]\n${provider}`);
      const parameters = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
      return { parameters: (prompt) => [...parameters, prompt], env: { SLUICE_KEY: testKey } };
    },
  },
  {
    command: 'gemini',
    package: '@google/gemini-cli',
    setUp({ origin, model, folder }) {
      write(folder, '.gemini/settings.json', JSON.stringify(signInByKey));
      return {
        parameters: (prompt) => ['-m', model, '--approval-mode', 'yolo', '--skip-trust', '-p', prompt],
        env: { GOOGLE_GEMINI_BASE_URL: origin, GEMINI_API_KEY: testKey },
      };
    },
  },
  {
    command: 'opencode',
    package: 'opencode-ai',
    setUp({ origin, model, folder }) {
      const options = { baseURL: `${origin}/v1`, apiKey: '{env:SLUICE_KEY}' };
      const sluice = { npm: '@ai-sdk/openai-compatible', name: 'Sluice', options, models: { [model]: {} } };
      write(folder, '.config/opencode/opencode.json', JSON.stringify({ provider: { sluice } }));
      return {
        parameters: (prompt) => ['run', '--model', `sluice/${model}`, prompt],
        env: { SLUICE_KEY: testKey, OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
      };
    },
  },
  {
    command: 'qwen',
    package: '@qwen-code/qwen-code',
    setUp: ({ origin, model }) => ({
      parameters: (prompt) => ['--auth-type', 'openai', '--yolo', '-p', prompt],
      env: {
        OPENAI_BASE_URL: `${origin}/v1`,
        OPENAI_API_KEY: testKey,
        OPENAI_MODEL: model,
        // It uses a proxy even for loopback.
        ...withoutProxies,
      },
    }),
  },
];

/**
 * How coding agents identify their sessions: headers and fields as sent by the versions named below, reduced to those
 * that concern sessions.
 */

export interface AgentRequest {
  path: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

const user = (content: string) => ({ role: 'user', content });

/** Claude Code 2.1.197. */
export function claudeCode(session: string, agent?: string): AgentRequest {
  const userId = JSON.stringify({ device_id: 'fd01be86', account_uuid: '', session_id: session });
  return {
    path: '/messages?beta=true',
    headers: {
      'user-agent': 'claude-cli/2.1.197 (external, sdk-cli)',
      'x-claude-code-session-id': session,
      ...(agent && { 'x-claude-code-agent-id': agent }),
      'x-app': 'cli',
      'anthropic-version': '2023-06-01',
    },
    body: { model: 'gpt-x', max_tokens: 100, metadata: { user_id: userId }, messages: [user('Read the note.')] },
  };
}

/** Claude Code before 2.1.78, which sent no session header. */
export function olderClaudeCode(session: string): AgentRequest {
  const { path, body } = claudeCode(session);
  return { path, headers: {}, body: { ...body, metadata: { user_id: `user_5f_account__session_${session}` } } };
}

/** Codex 0.169. */
export function codex(session: string, thread = session): AgentRequest {
  return {
    path: '/responses',
    headers: {
      'user-agent': 'codex_exec/0.169.0 (Debian 12.0.0; x86_64) unknown (codex_exec; 0.169.0)',
      'session-id': session,
      'thread-id': thread,
      originator: 'codex_exec',
    },
    body: { model: 'gpt-x', store: false, prompt_cache_key: thread, input: [user('Read the note.')] },
  };
}

/** opencode 1.18; a subagent names its parent session. */
export function opencode(session: string, parent?: string): AgentRequest {
  return {
    path: '/chat/completions',
    headers: {
      'user-agent': 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14',
      'x-session-affinity': session,
      'x-session-id': session,
      ...(parent && { 'x-parent-session-id': parent }),
    },
    body: { model: 'gpt-x', messages: [user('Read the note.')] },
  };
}

const folder = process.env.SLUICE_TEST_CLIENTS;
const searched = [
  ...(folder ? [join(folder, 'node_modules', '.bin'), join(folder, 'bin')] : []),
  ...plainEnvironment.PATH.split(delimiter),
];

export function findProgram(command: string): string | null {
  const files = searched.map((folder) => join(folder, command));
  return files.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Ends a program that hangs. Every program needs far less. */
export const programTimeoutMs = 60_000;

interface ProgramRun {
  parameters: string[];
  /** Its HOME and working directory. */
  folder: string;
  env: Record<string, string>;
}

/** Runs the program in its own folder, without HTTP access to anything but loopback. */
export async function runProgram(program: string, { parameters, folder, env }: ProgramRun) {
  const nowhere = 'http://127.0.0.1:9';
  const proxies = { HTTPS_PROXY: nowhere, HTTP_PROXY: nowhere, NO_PROXY: '127.0.0.1,localhost' };
  const child = spawn(program, parameters, {
    cwd: folder,
    env: { ...plainEnvironment, HOME: folder, ...proxies, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Some are started by a script, so the whole process group must be ended.
    detached: true,
  });
  const deadline = setTimeout(() => endGroup(child.pid), programTimeoutMs);
  try {
    const ended = once(child, 'exit');
    const [said, complained, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { exitCode, said, complained };
  } finally {
    clearTimeout(deadline);
    endGroup(child.pid);
  }
}

function endGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL');
  } catch {
    // The process group has already ended.
  }
}
