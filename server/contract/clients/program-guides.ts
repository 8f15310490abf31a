import { shellWord } from '../shell-words.ts';
import type { ClientGuide, Connection } from './client-guide.ts';

const shellEnvironment = ({ baseUrl, key }: Connection) =>
  `export OPENAI_BASE_URL=${baseUrl}\nexport OPENAI_API_KEY=${shellWord(key)}`;

/** Programs and libraries: for developers who write code or type commands. */
export const programGuides: readonly ClientGuide[] = [
  {
    id: 'curl',
    name: 'curl',
    kind: 'programs',
    endpoints: null,
    steps: ({ baseUrl, key, model }) => [
      {
        say: { code: 'run-in-terminal' },
        snippet: `curl ${baseUrl}/chat/completions \\\n  -H ${shellWord(`Authorization: Bearer ${key}`)} -H 'Content-Type: application/json' \\\n  -d ${shellWord(chatBody(model))}`,
      },
    ],
  },
  {
    id: 'openai-python',
    name: 'openai-python',
    kind: 'programs',
    endpoints: null,
    steps: (connection) => [
      { say: { code: 'install' }, snippet: 'pip install openai' },
      {
        say: { code: 'write-program' },
        snippet: `from openai import OpenAI\n\nclient = OpenAI(base_url="${connection.baseUrl}", api_key="${connection.key}")\nreply = client.chat.completions.create(\n    model="${connection.model}",\n    messages=[{"role": "user", "content": "Hello"}],\n)\nprint(reply.choices[0].message.content)`,
      },
      { say: { code: 'or-environment' }, snippet: shellEnvironment(connection) },
    ],
  },
  {
    id: 'openai-node',
    name: 'openai-node',
    kind: 'programs',
    endpoints: null,
    steps: (connection) => [
      { say: { code: 'install' }, snippet: 'npm install openai' },
      {
        say: { code: 'write-program' },
        snippet: `import OpenAI from 'openai';\n\nconst client = new OpenAI({ baseURL: '${connection.baseUrl}', apiKey: '${connection.key}' });\nconst reply = await client.chat.completions.create({\n  model: '${connection.model}',\n  messages: [{ role: 'user', content: 'Hello' }],\n});\nconsole.log(reply.choices[0].message.content);`,
      },
      { say: { code: 'or-environment' }, snippet: shellEnvironment(connection) },
    ],
  },
  {
    id: 'vercel-ai-sdk',
    name: 'Vercel AI SDK',
    kind: 'programs',
    endpoints: ['/v1/chat/completions'],
    steps: ({ baseUrl, key, model }) => [
      { say: { code: 'install' }, snippet: 'npm install ai @ai-sdk/openai-compatible' },
      {
        say: { code: 'write-program' },
        // Without `includeUsage` streams have no usage; without `supportsStructuredOutputs` schemas are not sent.
        snippet: `import { createOpenAICompatible } from '@ai-sdk/openai-compatible';\nimport { generateText } from 'ai';\n\nconst sluice = createOpenAICompatible({\n  name: 'sluice',\n  baseURL: '${baseUrl}',\n  apiKey: '${key}',\n  includeUsage: true,\n  supportsStructuredOutputs: true,\n});\nconst { text } = await generateText({ model: sluice('${model}'), prompt: 'Hello' });\nconsole.log(text);`,
      },
    ],
  },
  {
    // LiteLLM calls through openai-python and with its `user-agent`, so the snippet sets a title.
    id: 'litellm',
    name: 'LiteLLM',
    kind: 'programs',
    endpoints: ['/v1/chat/completions'],
    steps: ({ baseUrl, key, model }) => [
      { say: { code: 'install' }, snippet: 'pip install litellm' },
      {
        say: { code: 'write-program' },
        snippet: `from litellm import completion\n\nreply = completion(\n    model="openai/${model}",\n    api_base="${baseUrl}",\n    api_key="${key}",\n    messages=[{"role": "user", "content": "Hello"}],\n    extra_headers={"X-Title": "LiteLLM"},\n)\nprint(reply.choices[0].message.content)`,
      },
      {
        say: { code: 'or-litellm-proxy' },
        snippet: `model_list:\n  - model_name: ${model}\n    litellm_params:\n      model: openai/${model}\n      api_base: ${baseUrl}\n      api_key: ${key}\n      extra_headers: {"X-Title": "LiteLLM"}`,
      },
      {
        say: { code: 'litellm-master-key' },
        snippet: 'export LITELLM_MASTER_KEY=sk-choose-your-own\nlitellm --config config.yaml',
      },
    ],
  },
  {
    id: 'llm',
    name: 'llm',
    kind: 'programs',
    endpoints: ['/v1/chat/completions'],
    steps: ({ baseUrl, key, model }) => [
      { say: { code: 'install' }, snippet: 'pip install llm' },
      {
        say: { code: 'add-to', file: '"$(dirname "$(llm logs path)")"/extra-openai-models.yaml' },
        snippet: `- model_id: sluice\n  model_name: ${model}\n  api_base: ${baseUrl}\n  api_key_name: sluice\n  supports_tools: true\n  supports_schema: true\n  headers: {X-Title: llm}`,
      },
      { say: { code: 'run-in-terminal' }, snippet: `llm keys set sluice --value ${key}\nllm -m sluice 'Hello'` },
    ],
  },
];

function chatBody(model: string): string {
  return JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
}
