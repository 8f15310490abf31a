import { describe, expect, it } from 'vitest';
import { arrangeSteps, clientGuides, stepsOf } from '../../../server/contract/clients/client-guides.ts';
import {
  clientIdOf,
  isClient,
  isIdentifiable,
  isTool,
  mayBeAny,
  nameOfClient,
} from '../../../server/contract/known-clients.ts';

const aiSdk = 'ai-sdk-provider-utils/5.0.81 node.js/24';

describe('a client', () => {
  // As sent by the programs.
  it.each([
    ['curl/8.5.0', 'curl'],
    ['OpenAI/Python 3.54.0', 'openai-python'],
    ['AsyncOpenAI/Python 1.109.1', 'openai-python'],
    ['OpenAI/JS 7.57.0', 'openai-node'],
    [`ai/7.0.173 ${aiSdk}`, 'vercel-ai-sdk'],
    ['ai/6.0.1 ai-sdk/openai-compatible/2.0.0', 'vercel-ai-sdk'],
    ['ai-sdk-openai/4.0.118', 'vercel-ai-sdk'],
    ['ai-sdk-openai-compatible/3.0.92', 'vercel-ai-sdk'],
    ['codex_cli_rs/0.154.0 (Linux)', 'codex'],
    ['codex_exec/0.169.0 (Debian 12.0.0; x86_64) unknown (codex_exec; 0.169.0)', 'codex'],
    ['claude-cli/2.1.197 (external, sdk-cli)', 'claude-code'],
    ['GeminiCLI-tui/0.61.0/ollama/qwen3-coder (linux; x64; terminal)', 'gemini-cli'],
    ['opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14', 'opencode'],
    ['QwenCode/0.15.10 (linux; x64)', 'qwen-code'],
    ['ai-sdk/openai-compatible/3.0.37 ai-sdk/provider-utils/5.0.30 runtime/bun/1.3.13', 'cline'],
    ['Cline/3.40.0', 'cline'],
    ['OpenAI/JS 4.104.0 [Cline]', 'cline'],
    ['Kilo-Code/5.2.0 [Kilo Code]', 'kilo-code'],
    ['ls/JS 5.23.2', 'continue'],
    ['litellm/1.106.2', 'litellm'],
    ['OpenAI/Python 2.54.0 [LiteLLM]', 'litellm'],
    ['pydantic-ai/2.38.0', 'pydantic-ai'],
    ['OpenAI/Python 3.54.0 [LangChain]', 'langchain'],
    ['OpenAI/Python 3.54.0 [LlamaIndex]', 'llama-index'],
    ['OpenAI/Python 2.20.0 [Aider]', 'aider'],
    ['OpenAI/Python 3.54.0 [llm]', 'llm'],
    ['Zed/0.220.0 (linux; x86_64)', 'zed'],
    ['GitHubCopilotChat/0.38.2', 'vscode-copilot'],
    ['Mozilla/5.0 (X11; Linux x86_64) [Sluice window]', 'window'],
    ['Mozilla/5.0 (X11; Linux x86_64)', null],
    ['', null],
  ])('that calls itself %s is taken for %s', (client, id) => {
    expect(clientIdOf(client)).toBe(id);
  });

  it('that cannot be identified may use an SDK, but is neither the window nor a program with a name', () => {
    expect(mayBeAny('OpenAI/JS 7.57.0')).toBe(true);
    expect(mayBeAny('Mozilla/5.0 (X11; Linux x86_64)')).toBe(true);
    expect(mayBeAny('Mozilla/5.0 (X11; Linux x86_64) [Sluice window]')).toBe(false);
    expect(mayBeAny('claude-cli/2.1.197 (external, sdk-cli)')).toBe(false);
    expect(isIdentifiable('n8n')).toBe(false);
    expect(isIdentifiable('codex')).toBe(true);
  });

  it.each([
    ['Mozilla/5.0 (X11; Linux x86_64) [Sluice window]', 'Sluice window'],
    ['Mozilla/5.0 (X11; Linux x86_64)', 'Mozilla'],
    ['claude-cli/2.1.197 (external, cli)', 'Claude Code'],
    ['something-of-its-own/1 (x)', 'something-of-its-own'],
    ['/', '/'],
    ['', ''],
  ])('%s is called %s, and found by that in whatever case', (client, name) => {
    expect(nameOfClient(client)).toBe(name);
    for (const named of [client, name, name.toUpperCase()]) expect(isClient(client, named), named).toBe(true);
    for (const other of ['claude', 'Claude Code 2', 'aider']) expect(isClient(client, other), other).toBe(false);
  });

  it('is found by its id, too', () => {
    expect(isClient('claude-cli/2.1.197 (external, cli)', 'claude-code')).toBe(true);
    expect(isClient('codex_cli_rs/0.61', 'claude-code')).toBe(false);
  });

  it.each([
    ['claude-cli/2.1.197 (external, cli)', true],
    ['OpenAI/Python 3.54.0', true],
    ['Mozilla/5.0 (X11; Linux x86_64) [Cherry Studio]', true],
    ['Raycast/1.104.0', true],
    ['Mozilla/5.0 (X11; Linux x86_64) [Sluice window]', false],
    ['Mozilla/5.0 (X11; Linux x86_64)', false],
    ['curl/8.5.0', false],
    ['python-requests/2.32.3', false],
    ['Python/3.12 aiohttp/3.9.1', false],
    ['node', false],
    ['Go-http-client/1.1', false],
    ['Mozilla/5.0 (Windows NT; en-US) WindowsPowerShell/5.1', false],
    ['PowerShell/7.5.0', false],
  ])('%s is a tool: %s', (client, expected) => {
    expect(isTool(client)).toBe(expected);
  });
});

describe('the guides', () => {
  const connection = { baseUrl: 'http://127.0.0.1:4810/v1', key: 'THE_KEY', model: 'acme/gpt-5' };
  const textOf = (id: string) => JSON.stringify(stepsOf(guideOf(id), connection));
  const guideOf = (id: string) => {
    const guide = clientGuides.find((each) => each.id === id);
    if (!guide) throw new Error(`There is no guide for ${id}.`);
    return guide;
  };

  it('number what is to be done, and nothing else', () => {
    const codesOf = (id: string) => {
      const { before, acts } = arrangeSteps(stepsOf(guideOf(id), connection));
      const codes = acts.map(({ step, notes }) => [step.say.code, notes.map(({ say }) => say.code)]);
      return [before.map(({ say }) => say.code), ...codes];
    };
    expect(codesOf('claude-code')).toEqual([[], ['run-in-terminal', ['claude-plain-name', 'uses-other']]]);
    expect(codesOf('cursor')).toEqual([
      ['cursor-reach'],
      ['open', []],
      ['fill-in', []],
      ['add-model', ['cursor-override', 'uses-chat']],
    ]);
    for (const guide of clientGuides) {
      const steps = stepsOf(guide, connection);
      const { before, acts } = arrangeSteps(steps);
      expect([...before, ...acts.flatMap(({ step, notes }) => [step, ...notes])], guide.id).toEqual(steps);
      expect(acts.length, guide.id).toBeGreaterThan(0);
    }
  });

  it('have an id of their own each, and hold address and key', () => {
    expect(new Set(clientGuides.map(({ id }) => id)).size).toBe(clientGuides.length);
    for (const { id } of clientGuides) {
      expect.soft(textOf(id), id).toContain('http://127.0.0.1:4810');
      expect.soft(textOf(id), id).toContain('THE_KEY');
    }
  });

  it.each([
    ['codex', '/v1/responses'],
    ['claude-code', '/v1/messages'],
    ['gemini-cli', '/v1beta/models/'],
    ['continue', '/v1/responses'],
    ['n8n', '/v1/responses'],
    ['opencode', '/v1/chat/completions'],
  ])('say which endpoint %s uses', (id, endpoint) => {
    expect(textOf(id)).toContain(`"endpoint":"${id === 'continue' ? '/v1/chat/completions' : endpoint}`);
    expect(textOf(id)).toContain(endpoint);
  });

  it.each([
    ['vercel-ai-sdk', ['includeUsage: true', 'supportsStructuredOutputs: true']],
    ['langchain', ['stream_usage=True']],
    ['litellm', ['LITELLM_MASTER_KEY']],
    ['aider', ['--weak-model openai/acme/gpt-5', 'X-Title: Aider']],
    ['llm', ['X-Title: llm']],
    ['librechat', ['X-Title: LibreChat']],
    ['llama-index', ['is_chat_model=True', 'is_function_calling_model=True']],
  ])('set %s up so that all of it works', (id, options) => {
    for (const option of options) expect(textOf(id)).toContain(option);
  });
});
