import type { Loss } from '../../translate/losses.ts';

const mostNamed = 20;
const maxFieldLength = 100;
const notPrintable = /[^\x20-\x7e]/g;

/** Tells the client which parts of its request the upstream did not get, or got in another way. */
export function lossHeaders(losses: readonly Loss[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const fate of ['dropped', 'emulated'] as const) {
    const lost = losses.filter((loss) => loss.fate === fate);
    if (lost.length > 0) headers[`x-sluice-${fate}`] = told(lost);
  }
  return headers;
}

function told(losses: readonly Loss[]): string {
  const named = losses.slice(0, mostNamed).map(({ field, code }) => {
    return `${field.slice(0, maxFieldLength).replace(notPrintable, '?')} (${code})`;
  });
  const others = losses.length - named.length;
  return [...named, ...(others > 0 ? [`${others} more`] : [])].join(', ');
}
