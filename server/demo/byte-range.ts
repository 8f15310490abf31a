/** Byte ranges (RFC 9110, sections 13 and 14), which players use to seek in a film. */
import { DemoError } from './demo-error.ts';
import { binary, type Reply } from './reply.ts';

interface RangeRequest {
  /** The request's `Range` and `If-Range`. */
  range: string | undefined;
  ifRange: string | undefined;
}

/**
 * 200 with all bytes, or 206 with one range; throws a 416. Multiple and malformed ranges are answered with all bytes.
 */
export function rangedReply(bytes: Buffer, contentType: string, etag: string, request: RangeRequest): Reply {
  const whole = binary(bytes, contentType);
  if (whole.kind !== 'bytes') return whole;
  const headers = { ...whole.headers, 'accept-ranges': 'bytes', etag };
  const isCurrent = request.ifRange === undefined || request.ifRange === etag;
  const range = isCurrent ? parseRange(request.range, bytes.length) : undefined;
  if (!range) return { ...whole, headers };
  if (range.start > range.end) throw unsatisfiable(bytes.length);
  const contentRange = `bytes ${range.start}-${range.end}/${bytes.length}`;
  const part = bytes.subarray(range.start, range.end + 1);
  return { ...whole, status: 206, headers: { ...headers, 'content-range': contentRange }, bytes: part };
}

/** First and last byte; for a range beyond the content the end is before the start. */
function parseRange(range: string | undefined, length: number): { start: number; end: number } | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return undefined;
  if (first === '') return { start: last === '0' ? length : Math.max(0, length - Number(last)), end: length - 1 };
  if (last !== '' && Number(last) < Number(first)) return undefined;
  return { start: Number(first), end: last === '' ? length - 1 : Math.min(Number(last), length - 1) };
}

function unsatisfiable(length: number): DemoError {
  const headers = { 'content-range': `bytes */${length}`, 'accept-ranges': 'bytes' };
  return new DemoError({ status: 416, message: 'The requested range lies outside of the content.', headers });
}
