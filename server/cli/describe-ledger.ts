import type { LedgerHealthView } from '../contract/status-views.ts';

/** Whether requests are recorded, for a person. */
export function describeLedger({ ok, lastError, pending, dropped }: LedgerHealthView): string {
  const lost = dropped > 0 ? `, ${dropped} ${dropped === 1 ? 'row' : 'rows'} lost` : '';
  if (ok) return `working${lost}`;
  return `cannot be written: ${lastError ?? 'unknown'}; ${pending} ${pending === 1 ? 'row waits' : 'rows wait'}${lost}`;
}
