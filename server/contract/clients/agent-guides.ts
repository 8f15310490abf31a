import { shellWord } from '../shell-words.ts';
import { type ClientGuide, type Connection, pretty, withoutVersion } from './client-guide.ts';

/**
 * Coding agents for the terminal. `test/server/gateway/real-programs.test.ts` runs the first five as they are set up
 * here.
 */
export const agentGuides: readonly ClientGuide[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    kind: 'coding',
    endpoints: ['/v1/messages'],
    steps: ({ baseUrl, key, model }) => [
      {
        say: { code: 'run-in-terminal' },
        snippet: `export ANTHROPIC_BASE_URL=${withoutVersion(baseUrl)} ANTHROPIC_AUTH_TOKEN=${shellWord(key)}\nexport ANTHROPIC_MODEL=${shellWord(model)} ANTHROPIC_DEFAULT_HAIKU_MODEL=${shellWord(model)}\nexport ENABLE_TOOL_SEARCH=true CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY=1\nclaude`,
      },
      { say: { code: 'claude-plain-name' } },
    ],
  },
  {
    id: 'codex',
    name: 'Codex CLI',
    kind: 'coding',
    endpoints: ['/v1/responses'],
    steps: ({ baseUrl, key, model }) => [
      {
        say: { code: 'put-into', file: '~/.codex/config.toml' },
        snippet: `model = "${model}"\nmodel_provider = "sluice"\n\n[model_providers.sluice]\nname = "Sluice"\nbase_url = "${baseUrl}"\nenv_key = "SLUICE_KEY"\nwire_api = "responses"\nsupports_websockets = false`,
      },
      { say: { code: 'start-in-environment' }, snippet: `export SLUICE_KEY=${shellWord(key)}\ncodex` },
    ],
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    kind: 'coding',
    endpoints: ['/v1beta/models/…:streamGenerateContent'],
    steps: ({ baseUrl, key, model }) => [
      {
        say: { code: 'put-into', file: '~/.gemini/settings.json' },
        snippet: '{ "security": { "auth": { "selectedType": "gemini-api-key" } } }',
      },
      {
        say: { code: 'run-in-terminal' },
        snippet: `export GOOGLE_GEMINI_BASE_URL=${withoutVersion(baseUrl)} GEMINI_API_KEY=${shellWord(key)}\ngemini -m ${shellWord(model)}`,
      },
    ],
  },
  {
    id: 'opencode',
    name: 'opencode',
    kind: 'coding',
    endpoints: ['/v1/chat/completions'],
    steps: (connection) => [
      { say: { code: 'add-to', file: '~/.config/opencode/opencode.json' }, snippet: opencodeSettings(connection) },
      {
        say: { code: 'start-in-environment' },
        snippet: `export SLUICE_KEY=${shellWord(connection.key)}\nopencode --model ${shellWord(`sluice/${connection.model}`)}`,
      },
    ],
  },
  {
    id: 'qwen-code',
    name: 'Qwen Code',
    kind: 'coding',
    endpoints: ['/v1/chat/completions'],
    steps: ({ baseUrl, key, model }) => [
      {
        say: { code: 'run-in-terminal' },
        snippet: `export OPENAI_BASE_URL=${baseUrl} OPENAI_API_KEY=${shellWord(key)} OPENAI_MODEL=${shellWord(model)}\nqwen --auth-type openai`,
      },
      { say: { code: 'qwen-proxy' } },
    ],
  },
  {
    id: 'aider',
    name: 'Aider',
    kind: 'coding',
    endpoints: ['/v1/chat/completions'],
    steps: ({ baseUrl, key, model }) => [
      {
        say: { code: 'run-in-terminal' },
        snippet: `export OPENAI_API_BASE=${baseUrl}\nexport OPENAI_API_KEY=${shellWord(key)}\naider --model ${shellWord(`openai/${model}`)} --weak-model ${shellWord(`openai/${model}`)}`,
      },
      { say: { code: 'aider-weak-model' } },
      {
        say: { code: 'aider-title', file: '~/.aider.model.settings.yml' },
        snippet: '- name: aider/extra_params\n  extra_params:\n    extra_headers:\n      X-Title: Aider',
      },
    ],
  },
  {
    id: 'crush',
    name: 'Crush',
    kind: 'coding',
    endpoints: ['/v1/chat/completions'],
    isFromTerminal: true,
    steps: (connection) => [
      { say: { code: 'add-to', file: '~/.config/crush/crush.json' }, snippet: crushSettings(connection) },
      { say: { code: 'start-in-environment' }, snippet: `export SLUICE_KEY=${shellWord(connection.key)}\ncrush` },
    ],
  },
  {
    id: 'goose',
    name: 'Goose',
    kind: 'coding',
    endpoints: ['/v1/chat/completions'],
    steps: ({ baseUrl, key, model }) => [
      {
        say: { code: 'run-in-terminal' },
        snippet: `export GOOSE_PROVIDER=openai GOOSE_MODEL=${shellWord(model)}\nexport OPENAI_HOST=${withoutVersion(baseUrl)} OPENAI_API_KEY=${shellWord(key)}\ngoose session`,
      },
      { say: { code: 'goose-host' } },
    ],
  },
];

function opencodeSettings({ baseUrl, model }: Connection): string {
  const options = { baseURL: baseUrl, apiKey: '{env:SLUICE_KEY}' };
  const sluice = { npm: '@ai-sdk/openai-compatible', name: 'Sluice', options, models: { [model]: {} } };
  return pretty({ provider: { sluice } });
}

function crushSettings({ baseUrl, model }: Connection): string {
  const models = [{ id: model, name: model, context_window: 128_000, default_max_tokens: 8_000 }];
  const sluice = { name: 'Sluice', type: 'openai-compat', base_url: baseUrl, api_key: '$SLUICE_KEY', models };
  return pretty({ providers: { sluice } });
}
