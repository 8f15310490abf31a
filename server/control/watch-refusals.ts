import type { RefusalView } from '../contract/request-views.ts';
import type { Ledger } from '../ledger/ledger.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;
const everyMs = 2_000;

/** Of the last hour. */
export function recentRefusals(ledger: Pick<Ledger, 'refusals'>, nowMs: number): RefusalView[] {
  return ledger.refusals(nowMs - hourMs);
}

/** Tells the refusals of the last hour when they have changed; returns how to stop. They leave it by time alone too. */
export function watchRefusals(
  ledger: Pick<Ledger, 'refusals' | 'refusedCount'>,
  now: () => number,
  tell: (refusals: RefusalView[]) => void,
): () => void {
  const asOf = () => `${ledger.refusedCount} ${Math.floor(now() / minuteMs)}`;
  let lastAsOf = asOf();
  let last = JSON.stringify(recentRefusals(ledger, now()));
  const timer = setInterval(() => {
    if (asOf() === lastAsOf) return;
    lastAsOf = asOf();
    const refusals = recentRefusals(ledger, now());
    const text = JSON.stringify(refusals);
    if (text === last) return;
    last = text;
    tell(refusals);
  }, everyMs).unref();
  return () => clearInterval(timer);
}
