import type { LedgerHealthView, SetAsideView, StatusView } from '../contract/status-views.ts';
import { mebibyte } from '../contract/units.ts';

/** Whether requests are recorded, as text for a person. */
export function describeLedger({ ok, lastError, pending, spooled, dropped, setAside }: LedgerHealthView): string {
  const lost = `${dropped > 0 ? `, ${rows(dropped)} lost` : ''}${setAside ? `, ${describeSetAside(setAside)}` : ''}`;
  if (ok) return `working${lost}`;
  const onDisk = spooled > 0 ? `, ${spooled} of them on disk` : '';
  return `cannot be written: ${lastError ?? 'unknown'}; ${rows(pending)} waiting${onDisk}${lost}`;
}

/** How much room the captures take, after `describeLedger`; empty while there are none. */
export function describeCaptured({ ledger, settings }: Pick<StatusView, 'ledger' | 'settings'>): string {
  const { capturedBytes = 0 } = ledger;
  if (capturedBytes === 0) return '';
  const inMebibytes = (bytes: number) => (bytes / mebibyte).toFixed(1);
  return `; captures take ${inMebibytes(capturedBytes)} of ${inMebibytes(settings.capture.totalBytes)} MiB`;
}

function describeSetAside({ rows: count, file }: SetAsideView): string {
  return `${rows(count)} refused by the database and set aside${file === null ? '' : ` in ${file}`}`;
}

function rows(count: number): string {
  return count === 1 ? '1 row' : `${count} rows`;
}
