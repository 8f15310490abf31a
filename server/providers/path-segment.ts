const maxDepth = 4;
const dotSegment = /(?:^|[/\\])\.{1,2}(?:$|[/\\;?#])/;
/** Of all characters, those that make such a step: `%`, `.`, `/`, `;`, `?`, `#` and the backslash. */
const escapedMark = /%(25|2e|2f|3b|3f|23|5c)/gi;

/**
 * Whether a name can stand in a path as one segment. `.` and `..` cannot, however they are encoded, nor a name with such a
 * step in it: servers and proxies resolve them, some before and some after they decode `%2F`, and the call would go
 * elsewhere. Nor can half a surrogate pair, which has no bytes.
 */
export function isPathSegment(name: string): boolean {
  if (name === '' || !name.isWellFormed()) return false;
  let plain = name;
  for (let depth = 0; depth < maxDepth; depth++) {
    if (dotSegment.test(plain)) return false;
    const decoded = plain.replace(escapedMark, (_escape, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
    if (decoded === plain) return true;
    plain = decoded;
  }
  // Encoded more often than anyone does by mistake.
  return false;
}
