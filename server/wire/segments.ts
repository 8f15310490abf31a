/** Segments of a path, which are split before `%2F` is decoded. */

/** Keeps a stray `%`. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Replaces the segment at `index` with `value`, encoded. */
export function withSegment(path: string, index: number, value: string): string {
  return path.split('/').with(index, encodeURIComponent(value)).join('/');
}
