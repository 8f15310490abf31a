/**
 * Identifies clients by their requests. The patterns were taken from requests of the programs themselves, except where
 * a source is named.
 */

interface KnownClient {
  /** The id of its guide, or of the window. */
  id: string;
  /** Matches a client as the ledger notes it: its `user-agent`, then its `X-Title` in brackets if it has one. */
  is: RegExp;
  /** Many programs are built on it, and come under its name. */
  isSdk?: true;
}

/** The window's own requests, which are no client's. */
export const windowTitle = 'Sluice window';
const windowId = 'window';

/** The first match counts: titles before user agents, and what is built on an SDK before the SDK. */
const knownClients: readonly KnownClient[] = [
  { id: windowId, is: /\[Sluice window\]$/ },
  // Cline, src/services/EnvUtils.ts; Kilo Code, src/api/providers/constants.ts.
  { id: 'cline', is: /^Cline\/|\[Cline\]$/ },
  { id: 'kilo-code', is: /^Kilo-Code\/|\[Kilo Code\]$/ },
  { id: 'zoo-code', is: /^ZooCode\/|\[Zoo Code\]$/ },
  { id: 'cherry-studio', is: /\[Cherry Studio\]$/ },
  { id: 'open-webui', is: /\[Open WebUI\]$/ },
  { id: 'goose', is: /\[goose\]$/i },
  // As their guides set them up.
  { id: 'aider', is: /\[Aider\]$/ },
  { id: 'llm', is: /\[llm\]$/ },
  { id: 'librechat', is: /\[LibreChat\]$/ },
  { id: 'langchain', is: /\[LangChain\]$/ },
  { id: 'llama-index', is: /\[LlamaIndex\]$/ },
  { id: 'claude-code', is: /^claude-cli\// },
  { id: 'codex', is: /^codex[_-]/i },
  { id: 'gemini-cli', is: /^GeminiCLI/ },
  { id: 'opencode', is: /^opencode\// },
  { id: 'qwen-code', is: /^QwenCode\// },
  { id: 'zed', is: /^Zed\// },
  { id: 'vscode-copilot', is: /^GitHubCopilotChat\// },
  { id: 'cursor', is: /^Cursor\// },
  { id: 'crush', is: /^(?:Charm[- ])?Crush\//i },
  { id: 'pydantic-ai', is: /^pydantic-ai\// },
  { id: 'litellm', is: /^litellm\/|\[LiteLLM\]$/, isSdk: true },
  { id: 'curl', is: /^curl\// },
  // Cline's command line: the AI SDK's provider without the SDK, on Bun.
  { id: 'cline', is: /^ai-sdk\/openai-compatible\/\S+ ai-sdk\/provider-utils\/\S+ runtime\/bun/ },
  { id: 'vercel-ai-sdk', is: /^(?:\S+ )?ai-sdk[/-]|^ai\/\d/, isSdk: true },
  // Continue's own build of openai-node.
  { id: 'continue', is: /^ls\/JS / },
  { id: 'openai-python', is: /^(?:Async)?OpenAI\/Python /, isSdk: true },
  { id: 'openai-node', is: /^(?:Async)?OpenAI\/JS /, isSdk: true },
];

/** The client's id; null if it cannot be identified. */
export function clientIdOf(client: string): string | null {
  return knownClients.find(({ is }) => is.test(client))?.id ?? null;
}

/** Whether requests of the client can be distinguished from those of others. */
export function isIdentifiable(id: string): boolean {
  return knownClients.some((client) => client.id === id);
}

/** Whether a request may come from an unidentifiable client: neither the window nor a known program. */
export function mayBeAny(client: string): boolean {
  const known = knownClients.find(({ is }) => is.test(client));
  return known === undefined || known.isSdk === true;
}
