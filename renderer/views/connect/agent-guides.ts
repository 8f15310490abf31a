import type { ClientGuide, Connection } from './client-guide.ts';

/** Agents that write code in a terminal. `test/server/gateway/real-programs.test.ts` runs them as they are set up here. */
export const agentGuides: readonly ClientGuide[] = [
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
      { say: (texts) => texts.claudePlainName },
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
];

function opencodeSettings({ baseUrl, model }: Connection): string {
  const options = { baseURL: baseUrl, apiKey: '{env:SLUICE_KEY}' };
  const sluice = { npm: '@ai-sdk/openai-compatible', name: 'Sluice', options, models: { [model]: {} } };
  return JSON.stringify({ provider: { sluice } }, null, 2);
}

/** Clients of Anthropic's API add `/v1` themselves. */
function withoutVersion(baseUrl: string): string {
  return baseUrl.endsWith('/v1') ? baseUrl.slice(0, -'/v1'.length) : baseUrl;
}
