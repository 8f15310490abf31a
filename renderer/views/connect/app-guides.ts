import type { ClientGuide, NoteStep } from './client-guide.ts';

/** A container's own loopback is not the machine's. */
const fromContainer: NoteStep = { say: (texts) => texts.fromContainer, isWarning: true };

/** Applications with a face of their own. */
export const appGuides: readonly ClientGuide[] = [
  {
    id: 'open-webui',
    name: 'Open WebUI',
    kind: 'apps',
    userAgent: null,
    steps: [
      { say: (texts) => texts.open('Admin Settings → Connections → OpenAI API → +') },
      {
        say: (texts) => texts.fillIn,
        fields: ({ baseUrl, key }) => [
          { label: 'URL', value: baseUrl },
          { label: 'API Key', value: key },
        ],
      },
      {
        say: (texts) => texts.orEnvironment,
        snippet: ({ baseUrl, key }) => `OPENAI_API_BASE_URL=${baseUrl}\nOPENAI_API_KEY=${key}`,
      },
      fromContainer,
    ],
  },
  {
    id: 'librechat',
    name: 'LibreChat',
    kind: 'apps',
    userAgent: null,
    steps: [
      {
        say: (texts) => texts.mergeInto('librechat.yaml'),
        // Indented as it stands in the file.
        snippet: ({ baseUrl, model }) =>
          `endpoints:\n  custom:\n    - name: "Sluice"\n      apiKey: "$\{SLUICE_KEY}"\n      baseURL: "${baseUrl}"\n      models:\n        default: ["${model}"]\n        fetch: true`,
      },
      { say: (texts) => texts.mergeInto('.env'), snippet: ({ key }) => `SLUICE_KEY=${key}` },
      fromContainer,
    ],
  },
  {
    id: 'n8n',
    name: 'n8n',
    kind: 'apps',
    userAgent: null,
    steps: [
      { say: (texts) => texts.open('Credentials → Create credential → OpenAI') },
      {
        say: (texts) => texts.fillIn,
        fields: ({ baseUrl, key }) => [
          { label: 'API Key', value: key },
          { label: 'Base URL', value: baseUrl },
        ],
      },
      { say: (texts) => texts.addModel, snippet: ({ model }) => model },
      fromContainer,
    ],
  },
  {
    id: 'other',
    name: 'OpenAI API',
    kind: 'apps',
    userAgent: null,
    steps: [
      {
        say: (texts) => texts.anyOther,
        fields: ({ baseUrl, key, model }) => [
          { label: 'Base URL', value: baseUrl },
          { label: 'API key', value: key },
          { label: 'Model', value: model },
        ],
      },
      {
        say: (texts) => texts.orEnvironment,
        snippet: ({ baseUrl, key }) => `OPENAI_BASE_URL=${baseUrl}\nOPENAI_API_KEY=${key}`,
      },
    ],
  },
];
