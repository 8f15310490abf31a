/**
 * Who runs the tools that a request offers: the client, after the answer, or the provider, while it answers. The only
 * table of them. Sources: OpenAI, "Using tools"; Anthropic, "Tool reference"; Google, "Gemini API reference", `Tool`.
 */
import { isObject } from '../../../contract/is-object.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';

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

/** Whether a conversation's request starts no search, program or tool that the provider itself runs. */
export function runsNothingAtProvider(request: Json): boolean {
  const { tools } = request;
  if (providerFields.some((name) => request[name] != null) || isObject(request.prompt)) return false;
  return tools == null || (Array.isArray(tools) && tools.every((tool) => runnerOf(tool) === 'client'));
}
