/** The tools among which the model may choose. */
import type { Conversation, Tool } from '../conversation.ts';

/** All tools, unless the request allows only some of them by name. */
export function offeredTools({ tools, toolChoice }: Pick<Conversation, 'tools' | 'toolChoice'>): readonly Tool[] {
  if (toolChoice?.mode !== 'subset') return tools;
  const names = new Set(toolChoice.names);
  return tools.filter(({ name }) => names.has(name));
}
