import type { LedgerHealthView } from '../contract/status-views.ts';

/** Whether requests are recorded, as text for a person. */
export function describeLedger({ ok, lastError, pending, spooled, dropped }: LedgerHealthView): string {
  const lost = dropped > 0 ? `, ${rows(dropped)} lost` : '';
  if (ok) return `working${lost}`;
  const onDisk = spooled > 0 ? `, ${spooled} of them on disk` : '';
  return `cannot be written: ${lastError ?? 'unknown'}; ${rows(pending)} waiting${onDisk}${lost}`;
}

function rows(count: number): string {
  return count === 1 ? '1 row' : `${count} rows`;
}
