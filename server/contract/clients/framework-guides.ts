import type { ClientGuide } from './client-guide.ts';

/**
 * Python frameworks. They call through openai-python and with its `user-agent`, so the snippets set a title (`X-Title`,
 * as on OpenRouter) if the framework allows it.
 */
export const frameworkGuides: readonly ClientGuide[] = [
  {
    id: 'langchain',
    name: 'LangChain',
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
    id: 'llama-index',
    name: 'LlamaIndex',
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
    id: 'pydantic-ai',
    name: 'Pydantic AI',
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
