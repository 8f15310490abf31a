/** Guides to clients: agents, programs, applications and frameworks here, editors beside. */

import { knownClient } from '../known-clients.ts';
import { shellWord } from '../shell-words.ts';
import {
  type ClientGuide,
  type Connection,
  type GuideStep,
  type NoteStep,
  pretty,
  withoutVersion,
} from './client-guide.ts';
import { editorGuides } from './editor-guides.ts';

/** Inside a container, loopback addresses refer to the container, not to the machine. */
const fromContainer: NoteStep = { say: { code: 'from-container' }, isWarning: true };

/** Applications with their own user interface. */
const appGuides: readonly ClientGuide[] = [
  {
    ...knownClient('open-webui'),
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
    ...knownClient('librechat'),
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
    ...knownClient('cherry-studio'),
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

/**
 * Python frameworks. They call through openai-python and with its `user-agent`, so the snippets set a title (`X-Title`,
 * as on OpenRouter) if the framework allows it.
 */
const frameworkGuides: readonly ClientGuide[] = [
  {
    ...knownClient('langchain'),
    kind: 'programs',
    endpoints: ['/v1/chat/completions'],
    steps: ({ baseUrl, key, model }) => [
      { say: { code: 'install' }, snippet: 'pip install langchain-openai' },
      {
        say: { code: 'write-program' },
        // With a base URL, LangChain requests the usage of a stream only if this is set.
        snippet: `from langchain_openai import ChatOpenAI\n\nllm = ChatOpenAI(\n    model="${model}",\n    base_url="${baseUrl}",\n    api_key="${key}",\n    stream_usage=True,\n    default_headers={"X-Title": "LangChain"},\n)\nprint(llm.invoke("Hello").content)`,
      },
      { say: { code: 'embeddings-offline' } },
    ],
  },
  {
    ...knownClient('llama-index'),
    kind: 'programs',
    endpoints: ['/v1/chat/completions'],
    steps: ({ baseUrl, key, model }) => [
      { say: { code: 'install' }, snippet: 'pip install llama-index-llms-openai-like' },
      {
        say: { code: 'write-program' },
        snippet: `from llama_index.llms.openai_like import OpenAILike\n\nllm = OpenAILike(\n    model="${model}",\n    api_base="${baseUrl}",\n    api_key="${key}",\n    is_chat_model=True,\n    is_function_calling_model=True,\n    default_headers={"X-Title": "LlamaIndex"},\n)\nprint(llm.complete("Hello"))`,
      },
      { say: { code: 'llama-index-class' } },
    ],
  },
  {
    ...knownClient('pydantic-ai'),
    kind: 'programs',
    endpoints: ['/v1/chat/completions'],
    steps: ({ baseUrl, key, model }) => [
      { say: { code: 'install' }, snippet: 'pip install "pydantic-ai-slim[openai]"' },
      {
        say: { code: 'write-program' },
        snippet: `from pydantic_ai import Agent\nfrom pydantic_ai.models.openai import OpenAIChatModel\nfrom pydantic_ai.providers.openai import OpenAIProvider\n\nsluice = OpenAIProvider(base_url="${baseUrl}", api_key="${key}")\nagent = Agent(OpenAIChatModel("${model}", provider=sluice))\nprint(agent.run_sync("Hello").output)`,
      },
    ],
  },
];

const shellEnvironment = ({ baseUrl, key }: Connection) =>
  `export OPENAI_BASE_URL=${baseUrl}\nexport OPENAI_API_KEY=${shellWord(key)}`;

/** Programs and libraries: for developers who write code or type commands. */
const programGuides: readonly ClientGuide[] = [
  {
    ...knownClient('curl'),
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
    id: 'terminal',
    name: 'Terminal',
    kind: 'programs',
    endpoints: null,
    isFromTerminal: true,
    steps: (connection) => [
      {
        say: { code: 'any-in-terminal' },
        snippet: `${shellEnvironment(connection)}\nexport ANTHROPIC_BASE_URL=${withoutVersion(connection.baseUrl)}\nexport ANTHROPIC_AUTH_TOKEN=${shellWord(connection.key)}\nexport GOOGLE_GEMINI_BASE_URL=${withoutVersion(connection.baseUrl)}\nexport GEMINI_API_KEY=${shellWord(connection.key)}`,
      },
    ],
  },
  {
    ...knownClient('openai-python'),
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
    ...knownClient('openai-node'),
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
    ...knownClient('vercel-ai-sdk'),
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
    ...knownClient('litellm'),
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
    ...knownClient('llm'),
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

/**
 * Coding agents for the terminal. `test/server/gateway/real-programs.test.ts` runs the first five as they are set up
 * here.
 */
const agentGuides: readonly ClientGuide[] = [
  {
    ...knownClient('claude-code'),
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
    ...knownClient('codex'),
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
    ...knownClient('gemini-cli'),
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
    ...knownClient('opencode'),
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
    ...knownClient('qwen-code'),
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
    ...knownClient('aider'),
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
    ...knownClient('crush'),
    kind: 'coding',
    endpoints: ['/v1/chat/completions'],
    isFromTerminal: true,
    steps: (connection) => [
      { say: { code: 'add-to', file: '~/.config/crush/crush.json' }, snippet: crushSettings(connection) },
      { say: { code: 'start-in-environment' }, snippet: `export SLUICE_KEY=${shellWord(connection.key)}\ncrush` },
    ],
  },
  {
    ...knownClient('goose'),
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

/** All clients that the window and the command line explain. */
export const clientGuides: readonly ClientGuide[] = [
  ...programGuides,
  ...frameworkGuides,
  ...agentGuides,
  ...editorGuides,
  ...appGuides,
];

/** The guide's steps, followed by a note on the endpoints that the client uses. */
export function stepsOf(guide: ClientGuide, connection: Connection): readonly GuideStep[] {
  const steps = guide.steps(connection);
  if (guide.endpoints === null) return steps;
  const [endpoint, other] = guide.endpoints;
  if (other !== undefined) return [...steps, { say: { code: 'uses-both', endpoint, other } }];
  const code = endpoint === '/v1/chat/completions' ? 'uses-chat' : 'uses-other';
  return [...steps, { say: { code, endpoint } }];
}

/** What is done one after the other. All else is to be known, is optional, or is another way to do the same. */
const acts: ReadonlySet<GuideStep['say']['code']> = new Set([
  ...(['run-in-terminal', 'any-in-terminal', 'install', 'write-program', 'start-in-environment', 'any-other'] as const),
  ...(['put-into', 'add-to', 'open', 'run-from-palette', 'fill-in', 'add-model', 'zed-key', 'raycast-plan'] as const),
]);

export interface ArrangedSteps {
  /** What to know before the first. */
  before: GuideStep[];
  /** In order; only these are numbered. */
  acts: { step: GuideStep; notes: GuideStep[] }[];
}

/** The steps with each note at the one that it is about. */
export function arrangeSteps(steps: readonly GuideStep[]): ArrangedSteps {
  const arranged: ArrangedSteps = { before: [], acts: [] };
  for (const step of steps) {
    if (acts.has(step.say.code)) arranged.acts.push({ step, notes: [] });
    else (arranged.acts.at(-1)?.notes ?? arranged.before).push(step);
  }
  return arranged;
}
