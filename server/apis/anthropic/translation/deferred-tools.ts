/**
 * Tools with `defer_loading`: Claude sees their definitions only once a search has found them and a `tool_reference`
 * names them. Sources: Claude docs, "Tool search tool"; requests of Claude Code 2.1.197, whose own tool ToolSearch
 * searches.
 */
import { isObject } from '../../../contract/is-object.ts';

interface Deferral {
  /** Whether the model sees the definition of a deferred tool with this name. */
  isSeen: (name: unknown) => boolean;
  /** Anthropic would search, which no other API does: then all tools are seen from the start. */
  isSearchLost: boolean;
}

/** Reads the messages only if a tool is deferred. */
export function deferralOf(body: Record<string, unknown>): Deferral {
  const tools = Array.isArray(body.tools) ? body.tools.filter(isObject) : [];
  if (!tools.some(({ defer_loading: isDeferred }) => isDeferred === true)) return allSeen;
  const searches = tools.some(({ type }) => typeof type === 'string' && type.startsWith('tool_search_tool_'));
  if (searches) return { ...allSeen, isSearchLost: true };
  const found = namesIn(body);
  return { isSeen: (name) => found.has(name), isSearchLost: false };
}

const allSeen: Deferral = { isSeen: () => true, isSearchLost: false };

/** The tools that are referred to, have been called, or must be called. */
function namesIn({ messages, tool_choice: choice }: Record<string, unknown>): Set<unknown> {
  const names = new Set<unknown>(isObject(choice) ? [choice.name] : []);
  const collect = (content: unknown): void => {
    if (!Array.isArray(content)) return;
    for (const block of content.filter(isObject)) {
      if (block.type === 'tool_reference') names.add(block.tool_name);
      else if (block.type === 'tool_use') names.add(block.name);
      else collect(isObject(block.content) ? block.content.tool_references : block.content);
    }
  };
  if (Array.isArray(messages)) for (const message of messages.filter(isObject)) collect(message.content);
  return names;
}
