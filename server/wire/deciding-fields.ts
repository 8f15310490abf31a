/**
 * The fields of a request that decide whether it is admitted, who is asked, and what it may cost. They must mean the same to
 * Sluice and to the upstream, whatever parser that one has.
 */
const decidingFields: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'n',
  'best_of',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'background',
  'store',
  'previous_response_id',
  'seconds',
  'size',
  'quality',
]);

/** No parser makes one of ours of a longer name. */
const maxNameLength = 200;

/**
 * The deciding field that some parser may take `name` for: frameworks ignore case, take `model[]` for a list of `model`,
 * or undo escapes that others leave. Null if there is none.
 */
export function decidingField(name: string): string | null {
  if (decidingFields.has(name)) return name;
  if (name.length > maxNameLength) return null;
  const bracket = name.indexOf('[');
  const plain = (bracket > 0 ? name.slice(0, bracket) : name)
    .replace(/%([0-9a-f]{2})/gi, (_escape, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replace(/[\\"'\s\0]/g, '')
    // Through upper case, since some letters beyond ASCII have one of ASCII: `ſ` is a small `S`.
    .toUpperCase()
    .toLowerCase();
  return decidingFields.has(plain) ? plain : null;
}
