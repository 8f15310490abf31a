/** Valkey's sum of a budget period for one ledger, and what the ledger says is missing in it. */
import type { RequestName, Spent } from '../ledger/usage-history.ts';
import type { Period } from '../limits/period.ts';

/** A request of which Valkey was told that it has ended, or whose lease has lapsed. */
interface EndedRequest extends RequestName, Spent {}

export interface BudgetSumReply {
  counted: Spent;
  /** When the sum was last corrected; as in the reply. */
  corrected: string;
  /** False: Valkey does not know what was spent before. */
  isKnown: boolean;
  /** Requests of the last seconds, whose rows may not be in the ledger yet. */
  ended: readonly EndedRequest[];
}

/** As the script `sum` replies. */
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

/** `held`: what the ledger held at the moment for which `inLedger` names ended requests. */
export function missingIn(
  { counted, ended }: BudgetSumReply,
  held: Spent,
  { period: { startMs, endMs }, inLedger }: { period: Period; inLedger: ReadonlySet<string> },
): Spent {
  const unwritten = ended.filter(({ id, startedAt }) => !inLedger.has(id) && startedAt >= startMs && startedAt < endMs);
  const missing = (unit: keyof Spent) => unwritten.reduce((sum, each) => sum + each[unit], held[unit]) - counted[unit];
  const usd = missing('usd');
  return {
    // Sums of fractions depend on their order.
    usd: Math.abs(usd) <= 1e-9 * Math.max(1, held.usd) ? 0 : usd,
    tokens: Math.round(missing('tokens')),
    // For all time, the ledger does not count them.
    unpriced: Number.isFinite(startMs) ? missing('unpriced') : 0,
  };
}
