/**
 * Identifies clients by headers of their requests. The patterns were taken from requests of the real programs, unless a
 * source is named.
 */

interface KnownClient {
  /** The id of its guide; `window` for the window. */
  id: string;
  /**
   * Matches a client as recorded in the ledger: its `user-agent`, followed by its `X-Title` in brackets if it sends
   * one.
   */
  is: RegExp;
  /** Many programs are built on it and send its name. */
  isSdk?: true;
}

export const windowId = 'window';

/** The first match counts: titles come before user agents, and programs built on an SDK before the SDK. */
const knownClients: readonly KnownClient[] = [
  { id: windowId, is: /\[Sluice window\]$/ },
  // Sources: Cline, src/services/EnvUtils.ts; Kilo Code, src/api/providers/constants.ts.
  { id: 'cline', is: /^Cline\/|\[Cline\]$/ },
  { id: 'kilo-code', is: /^Kilo-Code\/|\[Kilo Code\]$/ },
  { id: 'zoo-code', is: /^ZooCode\/|\[Zoo Code\]$/ },
  { id: 'cherry-studio', is: /\[Cherry Studio\]$/ },
  { id: 'open-webui', is: /\[Open WebUI\]$/ },
  { id: 'goose', is: /\[goose\]$/i },
  // Titles that the guides set.
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

/** Browsers and libraries for HTTP, with which a call is made by hand or by a script. */
const plainHttp =
  /^(?:Mozilla|curl|Wget|HTTPie|xh|PostmanRuntime|insomnia|bruno-runtime|python-(?:requests|httpx|urllib3)|Python-urllib|Python\/[\d.]+ aiohttp|axios|node-fetch|got|undici|node|Deno|Bun|Go-http-client|okhttp|Java|Java-http-client|Apache-HttpClient|Ruby|Faraday|reqwest|libwww-perl|GuzzleHttp|PowerShell)(?:[ /]|$)/i;

/** Whether a client is a program for models: neither the window nor anything with which a call is made by hand. */
export function isTool(client: string): boolean {
  const id = clientIdOf(client);
  return id === null ? !plainHttp.test(client) : id !== windowId && id !== 'curl';
}

/** The client's id; null if it is unknown. */
export function clientIdOf(client: string): string | null {
  return knownClients.find(({ is }) => is.test(client))?.id ?? null;
}

/** Whether requests of the client can be distinguished from those of others. */
export function isIdentifiable(id: string): boolean {
  return knownClients.some((client) => client.id === id);
}

/** Whether a request may come from an unidentified client: neither the window nor a program known by its own name. */
export function mayBeAny(client: string): boolean {
  const match = knownClients.find(({ is }) => is.test(client));
  return match === undefined || match.isSdk === true;
}
