import type { ClientGuide, Connection } from './client-guide.ts';

const shellEnvironment = ({ baseUrl, key }: Connection) =>
  `export OPENAI_BASE_URL=${baseUrl}\nexport OPENAI_API_KEY=${key}`;

/** Programs and libraries: what a developer writes or types. */
export const programGuides: readonly ClientGuide[] = [
  {
    id: 'curl',
    name: 'curl',
    kind: 'programs',
    userAgent: /^curl\//,
    steps: [
      {
        say: (texts) => texts.runInTerminal,
        snippet: ({ baseUrl, key, model }) =>
          `curl ${baseUrl}/chat/completions \\\n  -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\\n  -d '${chatBody(model)}'`,
      },
    ],
  },
  {
    id: 'openai-python',
    name: 'openai-python',
    kind: 'programs',
    userAgent: /^(Async)?OpenAI\/Python /,
    steps: [
      { say: (texts) => texts.install, snippet: () => 'pip install openai' },
      {
        say: (texts) => texts.write,
        snippet: ({ baseUrl, key, model }) =>
          `from openai import OpenAI\n\nclient = OpenAI(base_url="${baseUrl}", api_key="${key}")\nreply = client.chat.completions.create(\n    model="${model}",\n    messages=[{"role": "user", "content": "Hello"}],\n)\nprint(reply.choices[0].message.content)`,
      },
      { say: (texts) => texts.orEnvironment, snippet: shellEnvironment },
    ],
  },
  {
    id: 'openai-node',
    name: 'openai-node',
    kind: 'programs',
    userAgent: /^(Async)?OpenAI\/JS /,
    steps: [
      { say: (texts) => texts.install, snippet: () => 'npm install openai' },
      {
        say: (texts) => texts.write,
        snippet: ({ baseUrl, key, model }) =>
          `import OpenAI from 'openai';\n\nconst client = new OpenAI({ baseURL: '${baseUrl}', apiKey: '${key}' });\nconst reply = await client.chat.completions.create({\n  model: '${model}',\n  messages: [{ role: 'user', content: 'Hello' }],\n});\nconsole.log(reply.choices[0].message.content);`,
      },
      { say: (texts) => texts.orEnvironment, snippet: shellEnvironment },
    ],
  },
  {
    id: 'vercel-ai-sdk',
    name: 'Vercel AI SDK',
    kind: 'programs',
    // opencode is built on it.
    userAgent: /^(?!opencode\/)(?:.* )?ai-sdk\/|^ai\/\d/,
    steps: [
      { say: (texts) => texts.install, snippet: () => 'npm install ai @ai-sdk/openai-compatible' },
      {
        say: (texts) => texts.write,
        snippet: ({ baseUrl, key, model }) =>
          `import { createOpenAICompatible } from '@ai-sdk/openai-compatible';\nimport { generateText } from 'ai';\n\nconst sluice = createOpenAICompatible({ name: 'sluice', baseURL: '${baseUrl}', apiKey: '${key}' });\nconst { text } = await generateText({ model: sluice('${model}'), prompt: 'Hello' });\nconsole.log(text);`,
      },
    ],
  },
  {
    id: 'langchain',
    name: 'LangChain',
    kind: 'programs',
    userAgent: null,
    steps: [
      { say: (texts) => texts.install, snippet: () => 'pip install langchain-openai' },
      {
        say: (texts) => texts.write,
        snippet: ({ baseUrl, key, model }) =>
          `from langchain_openai import ChatOpenAI\n\nllm = ChatOpenAI(model="${model}", base_url="${baseUrl}", api_key="${key}")\nprint(llm.invoke("Hello").content)`,
      },
    ],
  },
  {
    id: 'litellm',
    name: 'LiteLLM',
    kind: 'programs',
    userAgent: null,
    steps: [
      { say: (texts) => texts.install, snippet: () => 'pip install litellm' },
      {
        say: (texts) => texts.write,
        snippet: ({ baseUrl, key, model }) =>
          `from litellm import completion\n\nreply = completion(\n    model="openai/${model}",\n    api_base="${baseUrl}",\n    api_key="${key}",\n    messages=[{"role": "user", "content": "Hello"}],\n)\nprint(reply.choices[0].message.content)`,
      },
      {
        say: (texts) => texts.orLiteLlmProxy,
        snippet: ({ baseUrl, key, model }) =>
          `model_list:\n  - model_name: ${model}\n    litellm_params:\n      model: openai/${model}\n      api_base: ${baseUrl}\n      api_key: ${key}`,
      },
    ],
  },
];

function chatBody(model: string): string {
  return JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
}
