/** Coding agents as users set them up: the same as in `docs/clients.md` and on the window's Connect screen. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { testKey } from './gateway.ts';

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
