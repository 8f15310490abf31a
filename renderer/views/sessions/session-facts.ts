import type { ToolResult } from '../../../server/contract/ledger.ts';
import type { SessionSums, SessionView } from '../../../server/contract/session-views.ts';
import type { Localization } from '../../messages/use-messages.ts';

/** Shortens `claude-cli/2.1.197 (external, cli)` to `claude-cli/2.1.197`. */
export function programOf(client: string | null): string | null {
  return client?.split(' ', 1)[0] || null;
}

/** The title that its requests give, or the program that sends them; null if neither is known. */
export function titleOf({ name, client }: Pick<SessionView, 'name' | 'client'>): string | null {
  return name ?? programOf(client);
}

/** Whether further requests are refused. */
export function isRefused({ stoppedAt, isOverBudget }: SessionView): boolean {
  return stoppedAt !== null || isOverBudget;
}

/** `$0.42`, or a text saying that the cost is unknown. */
export function costIn({ costUsd }: Pick<SessionSums, 'costUsd'>, { messages, formats }: Localization): string {
  return costUsd === null ? messages.sessions.costUnknown : formats.dollars(costUsd);
}

interface ToolUse extends ToolResult {
  count: number;
}

/** Groups calls by tool, failed ones separately, in the order of their first results. */
export function toolUsesOf(tools: readonly ToolResult[]): ToolUse[] {
  const uses = new Map<string, ToolUse>();
  for (const tool of tools) {
    const id = `${tool.name} ${tool.hasFailed}`;
    const { count, bytes } = uses.get(id) ?? { count: 0, bytes: 0 };
    uses.set(id, { ...tool, count: count + 1, bytes: bytes + tool.bytes });
  }
  return [...uses.values()];
}
