import { isObject } from '../../contract/is-object.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';

/** Whether a conversation's request starts no search, program or tool that the provider itself runs. */
export function runsNothingAtProvider(request: Record<string, unknown>): boolean {
  const { tools } = request;
  if (providerFields.some((name) => request[name] != null) || isObject(request.prompt)) return false;
  return tools == null || (Array.isArray(tools) && tools.every(isRunByClient));
}

/** OpenAI's web search in chats, Anthropic's MCP connector and containers, OpenRouter's plugins. */
const providerFields = ['web_search_options', 'mcp_servers', 'container', 'plugins'] as const;

function isRunByClient(tool: unknown): boolean {
  if (!isObject(tool)) return false;
  const { type } = tool;
  if (typeof type === 'string') return clientTools.has(type) || anthropicClientTool.test(type);
  // Anthropic's tools need no type; Gemini's are identified by their members.
  if ('input_schema' in tool) return true;
  return Object.keys(tool).every((name) => name === 'functionDeclarations' || name === 'function_declarations');
}

const clientTools: ReadonlySet<string> = new Set(['function', 'custom', 'local_shell', 'apply_patch']);
/** Names end in a version date: Anthropic, "Bash tool", "Text editor tool", "Computer use tool", "Memory tool". */
const anthropicClientTool = boundedPattern(/^(?:bash|text_editor|computer|memory)_\d{8}$/);
