/** The tools among which the model may choose. */
import type { Conversation, Tool, ToolChoice } from '../conversation.ts';
import { type Losses, refuse } from '../losses.ts';

/** All tools, unless the request allows only some of them by name. */
export function offeredTools({ tools, toolChoice }: Pick<Conversation, 'tools' | 'toolChoice'>): readonly Tool[] {
  if (toolChoice?.mode !== 'subset') return tools;
  const names = new Set(toolChoice.names);
  return tools.filter(({ name }) => names.has(name));
}

/**
 * The model must call a tool that only the client's own provider runs, such as a web search: another would answer from
 * memory, as if it had searched.
 * @throws GatewayError `invalid_value`
 */
export function refuseLostChoice({ tools, toolChoice: choice, client }: Conversation, losses: Losses): void {
  if (choice === undefined || choice.mode === 'auto' || choice.mode === 'none') return;
  const isLost = losses.list.some(({ code, field }) => code === 'provider-tool' && field.startsWith('tools'));
  if (!isLost) return;
  if (!isPossible(choice, tools)) refuse(client.fieldNames.toolChoice ?? 'tool_choice', 'provider-tool');
}

function isPossible(choice: ToolChoice, tools: readonly Tool[]): boolean {
  const isOffered = (name: string) => tools.some((tool) => tool.name === name);
  if (choice.mode === 'named') return isOffered(choice.name);
  if (choice.mode === 'subset') return !choice.isRequired || choice.names.some(isOffered);
  return tools.length > 0;
}
