import type { RefusalView } from '../contract/request-views.ts';
import type { Refusals } from '../ledger/refusals.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;
const everyMs = 2_000;

/** Of the last hour. */
export function recentRefusals(refusals: Pick<Refusals, 'since'>, nowMs: number): RefusalView[] {
  return refusals.since(nowMs - hourMs);
}

/** Tells the refusals of the last hour when they have changed; returns how to stop. They leave it by time alone too. */
export function watchRefusals(
  refusals: Pick<Refusals, 'since' | 'count'>,
  now: () => number,
  tell: (refusals: RefusalView[]) => void,
): () => void {
  const asOf = () => `${refusals.count} ${Math.floor(now() / minuteMs)}`;
  let lastAsOf = asOf();
  let last = JSON.stringify(recentRefusals(refusals, now()));
  const timer = setInterval(() => {
    if (asOf() === lastAsOf) return;
    lastAsOf = asOf();
    const recent = recentRefusals(refusals, now());
    const text = JSON.stringify(recent);
    if (text === last) return;
    last = text;
    tell(recent);
  }, everyMs).unref();
  return () => clearInterval(timer);
}
