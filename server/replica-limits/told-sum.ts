/** Valkey's sum of a budget period for one ledger, and the amount that it lacks according to the ledger. */
import type { RequestName, Spent } from '../ledger/usage-history.ts';
import type { Period } from '../limits/period.ts';

/** A request that was reported to Valkey as ended, or whose lease has lapsed. */
interface ToldEnd extends RequestName, Spent {}

export interface ToldSum {
  counted: Spent;
  /** When the sum was last corrected, as it is in the reply. */
  corrected: string;
  /** False if Valkey does not know what was spent before. */
  isKnown: boolean;
  /** Requests of the last seconds, whose rows may not be in the ledger yet. */
  ended: readonly ToldEnd[];
}

/** Parses the reply of the script `sum`. */
export function readToldSum(reply: string, ledger: string): ToldSum {
  const [usd, tokens, unpriced, corrected = '', isKnown, ...ended] = reply.split(' ');
  return {
    counted: { usd: Number(usd), tokens: Number(tokens), unpriced: Number(unpriced) },
    corrected,
    isKnown: isKnown === '1',
    ended: ended.flatMap((each) => readEnd(each, ledger)),
  };
}

function readEnd(told: string, ledger: string): ToldEnd[] {
  const [id = '', startedAt, usd, tokens, unpriced, of] = told.split('|');
  if (of !== ledger) return [];
  return [{ id, startedAt: Number(startedAt), usd: Number(usd), tokens: Number(tokens), unpriced: Number(unpriced) }];
}

/** `held` is what the ledger held at one moment, and `inLedger` the ended requests that it contained then. */
export function missingIn(
  { counted, ended }: ToldSum,
  held: Spent,
  { period: { startMs, endMs }, inLedger }: { period: Period; inLedger: ReadonlySet<string> },
): Spent {
  const unwritten = ended.filter(({ id, startedAt }) => !inLedger.has(id) && startedAt >= startMs && startedAt < endMs);
  const missing = (unit: keyof Spent) => unwritten.reduce((sum, each) => sum + each[unit], held[unit]) - counted[unit];
  const usd = missing('usd');
  return {
    // Floating-point sums depend on the order of addition.
    usd: Math.abs(usd) <= 1e-9 * Math.max(1, held.usd) ? 0 : usd,
    tokens: Math.round(missing('tokens')),
    // The ledger does not count them for all time.
    unpriced: Number.isFinite(startMs) ? missing('unpriced') : 0,
  };
}
