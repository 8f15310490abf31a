/** What single rows add to the usage of their key and group. */

import { isUnpriced } from '../../contract/count.ts';
import { shadowAccount } from '../../contract/ledger.ts';
import type { CountedScope } from '../../contract/limits.ts';
import type { BegunRow, EndedRow } from '../rules/rows.ts';
import type { Spent, SpentQuery } from './usage-history.ts';

export interface SpentRow extends Record<CountedScope, string | null> {
  startedAt: number;
  spent: Spent;
}

export function spentByEnded(row: EndedRow): SpentRow {
  return spentBy(row, row, isUnpriced(row));
}

/** For a request that an earlier run left running. */
export function spentByReserved(row: BegunRow): SpentRow {
  const { usage, costUsd } = row.reserved ?? { usage: null, costUsd: 0 };
  return spentBy(row, { usage, costUsd }, costUsd === null);
}

function spentBy(row: BegunRow, { usage, costUsd }: Pick<EndedRow, 'usage' | 'costUsd'>, isUnknown: boolean): SpentRow {
  const account = row.shadowOf === null ? null : shadowAccount(row.groupId);
  const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
  return {
    startedAt: row.startedAt,
    key: account ?? row.keyId,
    group: account ?? row.groupId,
    spent: { usd: costUsd ?? 0, tokens, unpriced: Number(isUnknown) },
  };
}

/** The usage of those of the rows that began in the range. */
export function spentIn(rows: Iterable<SpentRow>, { scope, id, range: { startMs, endMs } }: SpentQuery): Spent {
  const sum = { usd: 0, tokens: 0, unpriced: 0 };
  for (const { [scope]: owner, startedAt, spent } of rows) {
    if (owner !== id || startedAt < startMs || startedAt >= endMs) continue;
    sum.usd += spent.usd;
    sum.tokens += spent.tokens;
    sum.unpriced += spent.unpriced;
  }
  return sum;
}
