/**
 * Who runs the tools that a request offers: the client, after the answer, or the provider, while it answers. The only
 * table of them. Sources: OpenAI, "Using tools"; Anthropic, "Tool reference"; Google, "Gemini API reference", `Tool`.
 */
import { isObject } from '../../../contract/is-object.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import type { ByteRange } from '../../json/json-scan.ts';
import type { BodyOutline } from '../chat-flavour.ts';
import type { MeasuredRequest } from '../wire.ts';

type Runner = 'client' | 'provider';

type Json = Record<string, unknown>;

/** Tools of OpenAI's APIs and of Anthropic's, by type. What is in no list may run at the provider. */
const clientTypes: ReadonlySet<string> = new Set([
  ...['function', 'custom'],
  ...['local_shell', 'apply_patch', 'computer', 'computer_use_preview'],
]);

/** Anthropic's end in the date of their version. */
const anthropicClientTool = boundedPattern(/^(?:bash|text_editor|computer|memory)_\d{8}$/);

/** Members of Gemini's tools, which have no type. The model only asks for what `computerUse` does. */
const geminiClientTools: ReadonlySet<string> = new Set([
  ...['functionDeclarations', 'function_declarations'],
  ...['computerUse', 'computer_use'],
]);

/** `tool` is an element of `tools`, in any API. */
export function runnerOf(tool: unknown): Runner {
  return isObject(tool) && isRunByClient(tool) ? 'client' : 'provider';
}

function isRunByClient(tool: Json): boolean {
  const { type } = tool;
  if (typeof type !== 'string') {
    // Those of Anthropic need no type, those of Gemini are identified by their members.
    return 'input_schema' in tool || Object.keys(tool).every((name) => geminiClientTools.has(name));
  }
  // Codex groups the tools of an MCP server.
  if (type === 'namespace') return Array.isArray(tool.tools) && tool.tools.every((each) => runnerOf(each) === 'client');
  // Without an environment, OpenRouter runs it.
  if (type === 'shell') return isObject(tool.environment) && tool.environment.type === 'local';
  if (type === 'tool_search') return tool.execution === 'client';
  return clientTypes.has(type) || anthropicClientTool.test(type);
}

/** OpenAI's web search in chats, Anthropic's MCP connector and containers, OpenRouter's plugins. */
const providerFields = ['web_search_options', 'mcp_servers', 'container', 'plugins'] as const;

/** The members of a request that say what the provider may run, of all APIs, by their names in lower case. */
const runningNames = new Map(
  ['tools', 'toolConfig', 'prompt', 'max_tool_calls', ...providerFields].map((name) => [name.toLowerCase(), name]),
);

interface Running {
  /** It may run anything at all. */
  runs: boolean;
  /** Some of what it may run is not known here: a stored prompt, or what parsers may read in different ways. */
  isUnseen: boolean;
  /** A search of a chat, which is no tool. */
  searches: boolean;
  tools: readonly unknown[];
  /** The most calls of all tools together; null if the request sets none. */
  maxCalls: number | null;
}

type OutlinedRequest = Pick<MeasuredRequest<never>, 'outline'>;

const known = new WeakMap<OutlinedRequest, Running>();

/** What the provider may run for a request of any API, which is not parsed as a whole. Read once for all who ask. */
export function runningFor(body: OutlinedRequest): Running {
  let running = known.get(body);
  if (!running) {
    running = readRunning(body.outline ?? null);
    known.set(body, running);
  }
  return running;
}

function readRunning(outline: BodyOutline | null): Running {
  const found = new Map<string, unknown>();
  // A body with more members than any API has is not listed.
  let isUnseen = outline !== null && outline.members.length === 0;
  for (const { key, value } of outline?.members ?? []) {
    const spelt = parsed(outline, key);
    const name = typeof spelt === 'string' ? runningNames.get(spelt.toLowerCase()) : undefined;
    if (name === undefined) continue;
    isUnseen ||= spelt !== name || found.has(name);
    found.set(name, parsed(outline, value));
  }
  const [config, maxCalls] = [found.get('toolConfig'), found.get('max_tool_calls')];
  const lists = [found.get('tools'), isObject(config) ? config.tools : config];
  const tools = lists.flatMap((list) => (Array.isArray(list) ? list : []));
  isUnseen ||= lists.includes(unread) || isObject(found.get('prompt'));
  const isAsked = providerFields.some((name) => found.get(name) != null);
  return {
    runs: isUnseen || isAsked || tools.some((tool) => runnerOf(tool) === 'provider' && !isOfConverse(tool)),
    isUnseen,
    searches: found.get('web_search_options') != null,
    tools,
    maxCalls: typeof maxCalls === 'number' && maxCalls >= 0 ? Math.floor(maxCalls) : null,
  };
}

/** In place of what is too long to be parsed, or cannot be. */
const unread = Symbol('unread');
const maxParsedBytes = 512 * 1024;

function parsed(outline: BodyOutline | null, { start, end }: ByteRange): unknown {
  if (outline === null || end - start > maxParsedBytes) return unread;
  try {
    return JSON.parse(outline.bytes.toString('utf8', start, end));
  } catch {
    return unread;
  }
}

/** Members of Converse's tools; the model reads no more for a cache point. */
const converseClientTools: ReadonlySet<string> = new Set(['toolSpec', 'cachePoint']);

function isOfConverse(tool: unknown): boolean {
  return isObject(tool) && Object.keys(tool).every((name) => converseClientTools.has(name));
}

/** Whether a conversation's request starts no search, program or tool that the provider itself runs. */
export function runsNothingAtProvider(request: Json): boolean {
  const { tools } = request;
  if (providerFields.some((name) => request[name] != null) || isObject(request.prompt)) return false;
  return tools == null || (Array.isArray(tools) && tools.every((tool) => runnerOf(tool) === 'client'));
}
