import type { ByteRange } from './json-scan.ts';

/** Longer values are not names. */
const maxBytes = 256;

/** The text of a JSON string in `bytes`; null if there is none, it is another value, or it is long. */
export function shortText(bytes: Buffer, range: ByteRange | undefined): string | null {
  if (!range || range.end - range.start > maxBytes) return null;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8', range.start, range.end));
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}
