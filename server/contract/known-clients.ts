/**
 * Identifies clients by headers of their requests. The patterns were taken from requests of the real programs, unless a
 * source is named.
 */
import { windowTitle } from './ledger.ts';

interface KnownClient {
  /** The id of its guide; `window` for the window. */
  id: string;
  /** What people call it: in its guide, in every list and in filters. */
  name: string;
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
  { id: windowId, name: windowTitle, is: /\[Sluice window\]$/ },
  // Sources: Cline, src/services/EnvUtils.ts; Kilo Code, src/api/providers/constants.ts.
  { id: 'cline', name: 'Cline', is: /^Cline\/|\[Cline\]$/ },
  { id: 'kilo-code', name: 'Kilo Code', is: /^Kilo-Code\/|\[Kilo Code\]$/ },
  { id: 'zoo-code', name: 'Zoo Code', is: /^ZooCode\/|\[Zoo Code\]$/ },
  { id: 'cherry-studio', name: 'Cherry Studio', is: /\[Cherry Studio\]$/ },
  { id: 'open-webui', name: 'Open WebUI', is: /\[Open WebUI\]$/ },
  { id: 'goose', name: 'Goose', is: /\[goose\]$/i },
  // Titles that the guides set.
  { id: 'aider', name: 'Aider', is: /\[Aider\]$/ },
  { id: 'llm', name: 'llm', is: /\[llm\]$/ },
  { id: 'librechat', name: 'LibreChat', is: /\[LibreChat\]$/ },
  { id: 'langchain', name: 'LangChain', is: /\[LangChain\]$/ },
  { id: 'llama-index', name: 'LlamaIndex', is: /\[LlamaIndex\]$/ },
  { id: 'claude-code', name: 'Claude Code', is: /^claude-cli\// },
  { id: 'codex', name: 'Codex CLI', is: /^codex[_-]/i },
  { id: 'gemini-cli', name: 'Gemini CLI', is: /^GeminiCLI/ },
  { id: 'opencode', name: 'opencode', is: /^opencode\// },
  { id: 'qwen-code', name: 'Qwen Code', is: /^QwenCode\// },
  { id: 'zed', name: 'Zed', is: /^Zed\// },
  { id: 'vscode-copilot', name: 'VS Code Copilot', is: /^GitHubCopilotChat\// },
  { id: 'cursor', name: 'Cursor', is: /^Cursor\// },
  { id: 'crush', name: 'Crush', is: /^(?:Charm[- ])?Crush\//i },
  { id: 'pydantic-ai', name: 'Pydantic AI', is: /^pydantic-ai\// },
  { id: 'litellm', name: 'LiteLLM', is: /^litellm\/|\[LiteLLM\]$/, isSdk: true },
  { id: 'curl', name: 'curl', is: /^curl\// },
  // Cline's command line: the AI SDK's provider without the SDK, on Bun.
  { id: 'cline', name: 'Cline', is: /^ai-sdk\/openai-compatible\/\S+ ai-sdk\/provider-utils\/\S+ runtime\/bun/ },
  { id: 'vercel-ai-sdk', name: 'Vercel AI SDK', is: /^(?:\S+ )?ai-sdk[/-]|^ai\/\d/, isSdk: true },
  // Continue's own build of openai-node.
  { id: 'continue', name: 'Continue', is: /^ls\/JS / },
  { id: 'openai-python', name: 'openai-python', is: /^(?:Async)?OpenAI\/Python /, isSdk: true },
  { id: 'openai-node', name: 'openai-node', is: /^(?:Async)?OpenAI\/JS /, isSdk: true },
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

/** What people call the client with this id; null if it is not known. */
export const nameOfClientId = (id: string | null): string | null =>
  knownClients.find((client) => client.id === id)?.name ?? null;

/** Id and name of a known client, for its guide. */
export function knownClient(id: string): Pick<KnownClient, 'id' | 'name'> {
  const name = nameOfClientId(id);
  if (name === null) throw new Error(`There is no known client “${id}”.`);
  return { id, name };
}

/**
 * `Claude Code`, or what a client calls itself, without version and remarks: in every list, and in filters. `client`: as in
 * `RequestRecord`.
 */
export function nameOfClient(client: string): string {
  return nameOfClientId(clientIdOf(client)) ?? (client.split(/[/ ]/, 1)[0] || client);
}

/** Whether a client is the one that a filter names: by its name, its id, or all that it calls itself. */
export function isClient(client: string, named: string): boolean {
  if (client === named || clientIdOf(client) === named) return true;
  return nameOfClient(client).toLowerCase() === named.toLowerCase();
}
