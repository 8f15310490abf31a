import { knownClient } from '../known-clients.ts';
import { shellWord } from '../shell-words.ts';
import { type ClientGuide, type Connection, type FieldsStep, pretty } from './client-guide.ts';

/** Cline and its forks need the same four values. */
function openAiCompatible({ baseUrl, key, model }: Connection): FieldsStep {
  return {
    say: { code: 'fill-in' },
    fields: [
      { label: 'API Provider', value: 'OpenAI Compatible' },
      { label: 'Base URL', value: baseUrl },
      { label: 'API Key', value: key },
      { label: 'Model ID', value: model },
    ],
  };
}

/** The context window to configure where a client requires one. */
const contextTokens = 128_000;

/** Editors and their extensions. */
export const editorGuides: readonly ClientGuide[] = [
  {
    ...knownClient('cursor'),
    kind: 'coding',
    endpoints: ['/v1/chat/completions'],
    steps: ({ baseUrl, key, model }) => [
      { say: { code: 'cursor-reach' }, isWarning: true },
      { say: { code: 'open', place: 'Cursor Settings → Models → API Keys' } },
      {
        say: { code: 'fill-in' },
        fields: [
          { label: 'OpenAI API Key', value: key },
          { label: 'Override OpenAI Base URL', value: baseUrl },
        ],
      },
      { say: { code: 'add-model' }, snippet: model },
      { say: { code: 'cursor-override' } },
    ],
  },
  {
    ...knownClient('continue'),
    kind: 'coding',
    endpoints: ['/v1/chat/completions', '/v1/responses'],
    steps: ({ baseUrl, key, model }) => [
      {
        say: { code: 'put-into', file: '~/.continue/config.yaml' },
        snippet: `name: Sluice\nversion: 0.0.1\nschema: v1\nmodels:\n  - name: ${model}\n    provider: openai\n    model: ${model}\n    apiBase: ${baseUrl}\n    apiKey: ${key}\n    roles: [chat, edit, apply]\n    capabilities: [tool_use, image_input]`,
      },
    ],
  },
  {
    ...knownClient('cline'),
    kind: 'coding',
    endpoints: ['/v1/chat/completions'],
    steps: (connection) => [
      { say: { code: 'open', place: 'Cline → Settings → API Configuration' } },
      openAiCompatible(connection),
    ],
  },
  {
    ...knownClient('kilo-code'),
    kind: 'coding',
    endpoints: ['/v1/chat/completions'],
    steps: (connection) => [
      { say: { code: 'open', place: 'Kilo Code → Settings → Providers' } },
      openAiCompatible(connection),
    ],
  },
  {
    ...knownClient('zoo-code'),
    kind: 'coding',
    endpoints: ['/v1/chat/completions'],
    steps: (connection) => [
      { say: { code: 'open', place: 'Zoo Code → Settings → Providers' } },
      openAiCompatible(connection),
    ],
  },
  {
    ...knownClient('zed'),
    kind: 'coding',
    endpoints: ['/v1/chat/completions'],
    isFromTerminal: true,
    steps: (connection) => [
      { say: { code: 'add-to', file: '~/.config/zed/settings.json' }, snippet: zedSettings(connection) },
      { say: { code: 'zed-key' }, snippet: `export SLUICE_API_KEY=${shellWord(connection.key)}\nzed` },
      { say: { code: 'context-guess' } },
    ],
  },
  {
    ...knownClient('vscode-copilot'),
    kind: 'coding',
    endpoints: ['/v1/chat/completions'],
    steps: (connection) => [
      { say: { code: 'copilot-version' } },
      { say: { code: 'run-from-palette', command: 'Chat: Open Language Models (JSON)' } },
      { say: { code: 'add-to', file: 'chatLanguageModels.json' }, snippet: copilotModels(connection) },
      { say: { code: 'copilot-key' } },
      { say: { code: 'copilot-hidden' } },
      { say: { code: 'context-guess' } },
    ],
  },
  {
    id: 'jetbrains',
    name: 'JetBrains AI',
    kind: 'coding',
    endpoints: ['/v1/chat/completions'],
    steps: ({ baseUrl, key, model }) => [
      { say: { code: 'open', place: 'Settings → Tools → AI Assistant → Providers & API keys' } },
      {
        say: { code: 'fill-in' },
        fields: [
          { label: 'Provider', value: 'OpenAI-compatible' },
          { label: 'Base URL', value: baseUrl },
          { label: 'Key', value: key },
          { label: 'Model', value: model },
        ],
      },
      { say: { code: 'jetbrains-older' } },
    ],
  },
];

function zedSettings({ baseUrl, model }: Connection): string {
  const models = [{ name: model, max_tokens: contextTokens }];
  return pretty({
    language_models: { openai_compatible: { Sluice: { api_url: baseUrl, available_models: models } } },
  });
}

function copilotModels(connection: Connection): string {
  return pretty([copilotProvider(connection)]);
}

/** An entry in VS Code's list of models. Source: VS Code, "AI language models", custom endpoints. */
export function copilotProvider({ baseUrl, key, model }: Connection) {
  const entry = {
    id: model,
    name: model,
    url: `${baseUrl}/chat/completions`,
    // Copilot does not list models without tools.
    toolCalling: true,
    vision: false,
    maxInputTokens: contextTokens,
    maxOutputTokens: 16_000,
  };
  return { name: 'Sluice', vendor: 'customendpoint', apiKey: key, apiType: 'chat-completions', models: [entry] };
}
