import type { ToolResult } from '../../../server/contract/ledger.ts';
import type { SessionFilterInput } from '../../../server/contract/queries.ts';
import { rangeMs, ranges, type TimeRange } from '../../../server/contract/request-filter.ts';
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

/**
 * Filter of the list of sessions, as it appears in the address:
 * `#/sessions?key=k1&group=default&client=…&range=24h&state=running`. `state` is `running` or `refused`; the others are
 * as for requests.
 */
export const sessionStates = ['running', 'refused'] as const;

export interface ShownSessions {
  key?: string;
  group?: string;
  client?: string;
  range?: TimeRange;
  state?: (typeof sessionStates)[number];
}

export function sessionFilterOf(address: URLSearchParams): ShownSessions {
  const filter: ShownSessions = {};
  for (const name of ['key', 'group', 'client'] as const) {
    const value = address.get(name);
    if (value) filter[name] = value;
  }
  const range = ranges.find((each) => each === address.get('range'));
  const state = sessionStates.find((each) => each === address.get('state'));
  return { ...filter, ...(range && { range }), ...(state && { state }) };
}

/** Includes the `?`; empty if nothing is filtered. */
export function sessionSearchOf(filter: ShownSessions): string {
  const address = new URLSearchParams({ ...filter }).toString();
  return address && `?${address}`;
}

/** The filter in the form that the engine expects. A range ends at `nowMs`. */
export function sessionQueryOf({ key, group, client, range, state }: ShownSessions, nowMs: number): SessionFilterInput {
  return {
    ...(key && { keyId: key }),
    ...(group && { groupId: group }),
    ...(client && { client }),
    ...(range && { sinceMs: nowMs - rangeMs[range] }),
    ...(state === 'running' && { running: true }),
    ...(state === 'refused' && { stopped: true }),
  };
}
