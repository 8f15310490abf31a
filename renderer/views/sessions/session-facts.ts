import type { ToolResult } from '../../../server/contract/ledger.ts';
import type { SessionView, ToolCallText } from '../../../server/contract/session-views.ts';

/** The last part of a path, of any system. */
export function folderName(path: string): string {
  return path.split(/[/\\]/).findLast((part) => part !== '') ?? path;
}

/** Whether further requests are refused. */
export function isRefused({ stoppedAt, isOverBudget }: SessionView): boolean {
  return stoppedAt !== null || isOverBudget;
}

interface ToolUse extends ToolResult {
  /** What it was called with; null if that is not captured. */
  argument: string | null;
  count: number;
}

/**
 * Groups equal calls, failed ones separately, in the order of their first results.
 *
 * @param calls what is captured of the same calls, in their order; fewer if it is not known of all
 */
export function toolUsesOf(tools: readonly ToolResult[], calls: readonly ToolCallText[] = []): ToolUse[] {
  const uses = new Map<string, ToolUse>();
  const isTold = calls.length === tools.length;
  for (const [index, tool] of tools.entries()) {
    const argument = (isTold && calls[index]?.argument) || null;
    const id = JSON.stringify([tool.name, tool.hasFailed, argument]);
    const { count, bytes } = uses.get(id) ?? { count: 0, bytes: 0 };
    uses.set(id, { ...tool, argument, count: count + 1, bytes: bytes + tool.bytes });
  }
  return [...uses.values()];
}
