/** Valkey's sum of a budget period for one ledger, and the difference to the ledger. */

import type { Period } from '../../contract/calendar.ts';
import type { RequestName, Spent } from '../../store/sqlite/usage-history.ts';

/** A request that was reported to Valkey as ended, or whose lease has lapsed. */
interface EndedRequest extends RequestName, Spent {}

export interface BudgetSumReply {
  counted: Spent;
  /** When the sum was last corrected, as it is in the reply. */
  corrected: string;
  /** False if Valkey does not know what was spent before. */
  isKnown: boolean;
  /** Requests of the last seconds, whose rows may not be in the ledger yet. */
  ended: readonly EndedRequest[];
}

/** Parses the reply of the script `sum`. */
export function readBudgetSumReply(reply: string, ledger: string): BudgetSumReply {
  const [usd, tokens, unpriced, corrected = '', isKnown, ...ended] = reply.split(' ');
  return {
    counted: { usd: Number(usd), tokens: Number(tokens), unpriced: Number(unpriced) },
    corrected,
    isKnown: isKnown === '1',
    ended: ended.flatMap((each) => readEnd(each, ledger)),
  };
}

function readEnd(text: string, ledger: string): EndedRequest[] {
  const [id = '', startedAt, usd, tokens, unpriced, of] = text.split('|');
  if (of !== ledger) return [];
  return [{ id, startedAt: Number(startedAt), usd: Number(usd), tokens: Number(tokens), unpriced: Number(unpriced) }];
}

/** `ledgerTotal`: the total of the ledger's snapshot. `inLedger`: the ended requests that it contains. */
export function missingIn(
  { counted, ended }: BudgetSumReply,
  ledgerTotal: Spent,
  { period: { startMs, endMs }, inLedger }: { period: Period; inLedger: ReadonlySet<string> },
): Spent {
  const unwritten = ended.filter(({ id, startedAt }) => !inLedger.has(id) && startedAt >= startMs && startedAt < endMs);
  const missing = (unit: keyof Spent) =>
    unwritten.reduce((sum, each) => sum + each[unit], ledgerTotal[unit]) - counted[unit];
  const usd = missing('usd');
  return {
    // Floating-point sums depend on the order of addition.
    usd: Math.abs(usd) <= 1e-9 * Math.max(1, ledgerTotal.usd) ? 0 : usd,
    tokens: Math.round(missing('tokens')),
    // The ledger's total for all time does not include them.
    unpriced: Number.isFinite(startMs) ? missing('unpriced') : 0,
  };
}
