import type { ClientGuide, Connection, FieldsStep } from './client-guide.ts';

/** Cline and its descendants ask for the same three things. */
const openAiCompatible: FieldsStep = {
  say: (texts) => texts.fillIn,
  fields: ({ baseUrl, key, model }) => [
    { label: 'API Provider', value: 'OpenAI Compatible' },
    { label: 'Base URL', value: baseUrl },
    { label: 'API Key', value: key },
    { label: 'Model ID', value: model },
  ],
};

/** What a context window is guessed at where a client must be told one. */
const contextTokens = 128_000;

/** Editors and agents that write code. */
export const codingGuides: readonly ClientGuide[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    kind: 'coding',
    userAgent: /^claude-cli\//,
    steps: [
      {
        say: (texts) => texts.runInTerminal,
        snippet: ({ baseUrl, key, model }) =>
          `export ANTHROPIC_BASE_URL=${withoutVersion(baseUrl)} ANTHROPIC_AUTH_TOKEN=${key}\nexport ANTHROPIC_MODEL=${model} ANTHROPIC_DEFAULT_HAIKU_MODEL=${model}\nclaude`,
      },
    ],
  },
  {
    id: 'codex',
    name: 'Codex CLI',
    kind: 'coding',
    userAgent: /^codex[_-]/i,
    steps: [
      {
        say: (texts) => texts.putInto('~/.codex/config.toml'),
        snippet: ({ baseUrl, model }) =>
          `model = "${model}"\nmodel_provider = "sluice"\n\n[model_providers.sluice]\nname = "Sluice"\nbase_url = "${baseUrl}"\nenv_key = "SLUICE_KEY"\nwire_api = "responses"`,
      },
      { say: (texts) => texts.startInEnvironment, snippet: ({ key }) => `export SLUICE_KEY=${key}\ncodex` },
      { say: (texts) => texts.codexResponses },
    ],
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    kind: 'coding',
    userAgent: /^GeminiCLI/,
    steps: [
      {
        say: (texts) => texts.putInto('~/.gemini/settings.json'),
        snippet: () => '{ "security": { "auth": { "selectedType": "gemini-api-key" } } }',
      },
      {
        say: (texts) => texts.runInTerminal,
        snippet: ({ baseUrl, key, model }) =>
          `export GOOGLE_GEMINI_BASE_URL=${withoutVersion(baseUrl)} GEMINI_API_KEY=${key}\ngemini -m ${model}`,
      },
    ],
  },
  {
    id: 'opencode',
    name: 'opencode',
    kind: 'coding',
    userAgent: /^opencode\//,
    steps: [
      { say: (texts) => texts.mergeInto('~/.config/opencode/opencode.json'), snippet: opencodeSettings },
      {
        say: (texts) => texts.startInEnvironment,
        snippet: ({ key, model }) => `export SLUICE_KEY=${key}\nopencode --model sluice/${model}`,
      },
    ],
  },
  {
    id: 'qwen-code',
    name: 'Qwen Code',
    kind: 'coding',
    userAgent: /^QwenCode\//,
    steps: [
      {
        say: (texts) => texts.runInTerminal,
        snippet: ({ baseUrl, key, model }) =>
          `export OPENAI_BASE_URL=${baseUrl} OPENAI_API_KEY=${key} OPENAI_MODEL=${model}\nqwen --auth-type openai`,
      },
      { say: (texts) => texts.qwenProxy },
    ],
  },
  {
    id: 'cursor',
    name: 'Cursor',
    kind: 'coding',
    userAgent: null,
    steps: [
      { say: (texts) => texts.cursorReach, isWarning: true },
      { say: (texts) => texts.open('Cursor Settings → Models → API Keys') },
      {
        say: (texts) => texts.fillIn,
        fields: ({ baseUrl, key }) => [
          { label: 'OpenAI API Key', value: key },
          { label: 'Override OpenAI Base URL', value: baseUrl },
        ],
      },
      { say: (texts) => texts.addModel, snippet: ({ model }) => model },
    ],
  },
  {
    id: 'continue',
    name: 'Continue',
    kind: 'coding',
    userAgent: null,
    steps: [
      {
        say: (texts) => texts.putInto('~/.continue/config.yaml'),
        snippet: ({ baseUrl, key, model }) =>
          `name: Sluice\nversion: 0.0.1\nschema: v1\nmodels:\n  - name: ${model}\n    provider: openai\n    model: ${model}\n    apiBase: ${baseUrl}\n    apiKey: ${key}\n    roles: [chat, edit, apply]`,
      },
    ],
  },
  {
    id: 'cline',
    name: 'Cline',
    kind: 'coding',
    userAgent: /^Cline\//,
    steps: [{ say: (texts) => texts.open('Cline → Settings → API Configuration') }, openAiCompatible],
  },
  {
    id: 'roo',
    name: 'Roo Code',
    kind: 'coding',
    userAgent: /^RooCode\//,
    steps: [{ say: (texts) => texts.open('Roo Code → Settings → Providers') }, openAiCompatible],
  },
  {
    id: 'zed',
    name: 'Zed',
    kind: 'coding',
    userAgent: /^Zed\//,
    steps: [
      { say: (texts) => texts.mergeInto('~/.config/zed/settings.json'), snippet: zedSettings },
      { say: (texts) => texts.zedKey, snippet: ({ key }) => `export SLUICE_API_KEY=${key}\nzed` },
      { say: (texts) => texts.contextGuess },
    ],
  },
  {
    id: 'aider',
    name: 'Aider',
    kind: 'coding',
    userAgent: null,
    steps: [
      {
        say: (texts) => texts.runInTerminal,
        snippet: ({ baseUrl, key, model }) =>
          `export OPENAI_API_BASE=${baseUrl}\nexport OPENAI_API_KEY=${key}\naider --model openai/${model}`,
      },
    ],
  },
  {
    id: 'vscode-copilot',
    name: 'VS Code Copilot',
    kind: 'coding',
    userAgent: /^GitHubCopilotChat\//,
    steps: [
      { say: (texts) => texts.copilotVersion },
      { say: (texts) => texts.runPalette('Chat: Open Language Models (JSON)') },
      { say: (texts) => texts.mergeInto('chatLanguageModels.json'), snippet: copilotModels },
      { say: (texts) => texts.contextGuess },
    ],
  },
  {
    id: 'jetbrains',
    name: 'JetBrains AI',
    kind: 'coding',
    userAgent: null,
    steps: [
      { say: (texts) => texts.open('Settings → Tools → AI Assistant → Providers & API keys') },
      {
        say: (texts) => texts.fillIn,
        fields: ({ baseUrl, key, model }) => [
          { label: 'Provider', value: 'OpenAI-compatible' },
          { label: 'Base URL', value: baseUrl },
          { label: 'Key', value: key },
          { label: 'Model', value: model },
        ],
      },
      { say: (texts) => texts.jetbrainsOlder },
    ],
  },
];

function opencodeSettings({ baseUrl, model }: Connection): string {
  const options = { baseURL: baseUrl, apiKey: '{env:SLUICE_KEY}' };
  const sluice = { npm: '@ai-sdk/openai-compatible', name: 'Sluice', options, models: { [model]: {} } };
  return pretty({ provider: { sluice } });
}

function zedSettings({ baseUrl, model }: Connection): string {
  const models = [{ name: model, max_tokens: contextTokens }];
  return pretty({
    language_models: { openai_compatible: { Sluice: { api_url: baseUrl, available_models: models } } },
  });
}

function copilotModels({ baseUrl, key, model }: Connection): string {
  const entry = {
    id: model,
    name: model,
    url: `${baseUrl}/chat/completions`,
    toolCalling: true,
    vision: false,
    maxInputTokens: contextTokens,
    maxOutputTokens: 16_000,
  };
  return pretty([
    { name: 'Sluice', vendor: 'customendpoint', apiKey: key, apiType: 'chat-completions', models: [entry] },
  ]);
}

function pretty(value: object): string {
  return JSON.stringify(value, null, 2);
}

/** Clients of Anthropic's API add `/v1` themselves. */
function withoutVersion(baseUrl: string): string {
  return baseUrl.endsWith('/v1') ? baseUrl.slice(0, -'/v1'.length) : baseUrl;
}
