import type { LedgerHealthView } from '../contract/status-views.ts';

/** Whether requests are recorded, for a person. */
export function describeLedger({ ok, lastError, spooled, dropped }: LedgerHealthView): string {
  const lost = dropped > 0 ? `, ${dropped} rows lost` : '';
  if (ok) return `working${lost}`;
  const kept = spooled > 0 ? `; ${spooled} rows wait on disk until it can` : '';
  return `cannot be written: ${lastError ?? 'unknown'}${kept}${lost}`;
}
