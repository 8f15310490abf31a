const maxDepth = 4;
const dotSegment = /(?:^|[/\\])\.{1,2}(?:$|[/\\;?#])/;
/** The escaped characters that can form a dot segment: `%`, `.`, `/`, `;`, `?`, `#` and the backslash. */
const escapedMark = /%(25|2e|2f|3b|3f|23|5c)/gi;

/**
 * Whether a name can be a path segment. Names with `.` or `..` segments cannot, however they are encoded: nginx decodes
 * `%2F` before it resolves them (`ngx_http_parse_complex_uri`), so the call would reach another path. Names with lone
 * surrogates cannot either, because those have no UTF-8 encoding, nor names with NUL, which PostgreSQL cannot store.
 */
export function isPathSegment(name: string): boolean {
  if (name === '' || !name.isWellFormed() || name.includes('\0')) return false;
  let segment = name;
  for (let depth = 0; depth < maxDepth; depth++) {
    if (dotSegment.test(segment)) return false;
    const decoded = segment.replace(escapedMark, (_escape, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
    if (decoded === segment) return true;
    segment = decoded;
  }
  // It is encoded too many times to be an accident.
  return false;
}
