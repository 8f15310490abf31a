/** What lower retention settings would delete for good; queried before they are saved. */

import type { SettingsChanges } from '../../../../server/contract/commands.ts';
import type { Settings } from '../../../../server/contract/settings.ts';
import { dayMs } from '../../../../server/contract/units.ts';
import type { ControlApi } from '../../../state/api/api.ts';

export interface LostRecords {
  /** Requests from before that time, with their usage. */
  requests: { count: number; beforeMs: number } | null;
  /** All requests except this many. */
  allButNewest: number | null;
  /** Captures from before that time. It is only known that there were requests, not whether any were captured. */
  capturesBeforeMs: number | null;
}

/** Null if nothing would be deleted. */
export async function lostRecordsOf(
  { query }: Pick<ControlApi, 'query'>,
  settings: Settings,
  changes: SettingsChanges,
  nowMs: number,
): Promise<LostRecords | null> {
  const days = ifLowered(settings.ledger.retentionDays, changes.ledger?.retentionDays);
  const rows = ifLowered(settings.ledger.retentionRows, changes.ledger?.retentionRows);
  const captureDays = ifLowered(settings.capture.retentionDays, changes.capture?.retentionDays);
  const countBefore = async (untilMs: number) => {
    const summed = await query<'usage'>({ type: 'usage', by: 'day', untilMs });
    return summed.reduce((count, { requests }) => count + requests, 0);
  };
  const isMoreThan = async (limit: number) => {
    const newest = await query<'requests'>({ type: 'requests', limit: 1 });
    const before = (newest.requests[0]?.seq ?? 0) - limit + 1;
    return (await query<'requests'>({ type: 'requests', before, limit: 1 })).requests.length > 0;
  };
  const beforeMs = nowMs - (days ?? 0) * dayMs;
  const count = days === null ? 0 : await countBefore(beforeMs);
  const allButNewest = rows !== null && (await isMoreThan(rows)) ? rows : null;
  const captureMs = nowMs - (captureDays ?? 0) * dayMs;
  const capturesBeforeMs = captureDays !== null && (await countBefore(captureMs)) > 0 ? captureMs : null;
  if (count === 0 && allButNewest === null && capturesBeforeMs === null) return null;
  return { requests: count > 0 ? { count, beforeMs } : null, allButNewest, capturesBeforeMs };
}

function ifLowered(now: number, previous: number | undefined): number | null {
  return previous !== undefined && previous < now ? previous : null;
}
