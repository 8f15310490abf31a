import type { ClientGuide, NoteStep } from './client-guide.ts';

/** Inside a container, loopback addresses refer to the container, not to the machine. */
const fromContainer: NoteStep = { say: { code: 'from-container' }, isWarning: true };

/** Applications with their own user interface. */
export const appGuides: readonly ClientGuide[] = [
  {
    id: 'open-webui',
    name: 'Open WebUI',
    kind: 'apps',
    endpoints: ['/v1/chat/completions'],
    steps: ({ baseUrl, key }) => [
      {
        say: {
          code: 'open',
          place: 'Admin Settings → Connections → OpenAI → Manage (the wrench) → Add New Connection',
        },
      },
      {
        say: { code: 'fill-in' },
        fields: [
          { label: 'URL', value: baseUrl },
          { label: 'API Key', value: key },
        ],
      },
      { say: { code: 'or-environment' }, snippet: `OPENAI_API_BASE_URL=${baseUrl}\nOPENAI_API_KEY=${key}` },
      fromContainer,
    ],
  },
  {
    id: 'librechat',
    name: 'LibreChat',
    kind: 'apps',
    endpoints: ['/v1/chat/completions'],
    steps: ({ baseUrl, key, model }) => [
      {
        say: { code: 'add-to', file: 'librechat.yaml' },
        // Indented as it must be in the file.
        snippet: `endpoints:\n  custom:\n    - name: "Sluice"\n      apiKey: "$\{SLUICE_KEY}"\n      baseURL: "${baseUrl}"\n      models:\n        default: ["${model}"]\n        fetch: true\n      headers:\n        X-Title: LibreChat`,
      },
      { say: { code: 'add-to', file: '.env' }, snippet: `SLUICE_KEY=${key}` },
      fromContainer,
    ],
  },
  {
    id: 'cherry-studio',
    name: 'Cherry Studio',
    kind: 'apps',
    endpoints: ['/v1/chat/completions'],
    steps: ({ baseUrl, key, model }) => [
      { say: { code: 'open', place: 'Settings → Model Provider → Add (type: OpenAI)' } },
      {
        say: { code: 'fill-in' },
        fields: [
          { label: 'API Key', value: key },
          { label: 'API Host', value: baseUrl },
        ],
      },
      { say: { code: 'add-model' }, snippet: model },
    ],
  },
  {
    id: 'raycast',
    name: 'Raycast',
    kind: 'apps',
    endpoints: ['/v1/chat/completions'],
    steps: ({ baseUrl, key, model }) => [
      { say: { code: 'raycast-plan' } },
      {
        say: { code: 'add-to', file: '~/.config/raycast/ai/providers.yaml' },
        snippet: `providers:\n  - id: sluice\n    name: Sluice\n    base_url: ${baseUrl}\n    api_keys:\n      sluice: ${key}\n    models:\n      - id: ${model}\n        name: ${model}\n        provider: sluice\n        context: 128000`,
      },
      { say: { code: 'context-guess' } },
    ],
  },
  {
    id: 'n8n',
    name: 'n8n',
    kind: 'apps',
    endpoints: ['/v1/responses', '/v1/chat/completions'],
    steps: ({ baseUrl, key, model }) => [
      { say: { code: 'open', place: 'Credentials → Create credential → OpenAI' } },
      {
        say: { code: 'fill-in' },
        fields: [
          { label: 'API Key', value: key },
          { label: 'Base URL', value: baseUrl },
        ],
      },
      { say: { code: 'add-model' }, snippet: model },
      fromContainer,
    ],
  },
  {
    id: 'other',
    name: 'OpenAI API',
    kind: 'apps',
    endpoints: null,
    steps: ({ baseUrl, key, model }) => [
      {
        say: { code: 'any-other' },
        fields: [
          { label: 'Base URL', value: baseUrl },
          { label: 'API key', value: key },
          { label: 'Model', value: model },
        ],
      },
      { say: { code: 'or-environment' }, snippet: `OPENAI_BASE_URL=${baseUrl}\nOPENAI_API_KEY=${key}` },
    ],
  },
];
