/** The segments of a path, which are told apart before `%2F` is decoded. */

/** A stray `%` is the client's own and stays. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** A path in which the segment at `index` is `value`. */
export function withSegment(path: string, index: number, value: string): string {
  return path.split('/').with(index, encodeURIComponent(value)).join('/');
}
