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

/** Editors and their extensions, and Aider. */
export const codingGuides: readonly ClientGuide[] = [
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
