/** Compiles patterns such as `gpt-*`; `*` matches any run of characters, everything else itself, case-sensitively. */
export function matchesAny(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.includes('*')) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const wild = patterns.filter((pattern) => pattern.includes('*')).map(compile);
  return (name) => exact.has(name) || wild.some((matches) => matches(name));
}

/** Not a regular expression: with several `*` its backtracking would explode for a long name, and clients choose the name. */
function compile(pattern: string): (name: string) => boolean {
  const parts = pattern.split('*');
  const first = parts.shift() ?? '';
  const last = parts.pop() ?? '';
  return (name) => {
    if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
    const middle = name.slice(first.length, name.length - last.length);
    let from = 0;
    return parts.every((part) => {
      const at = middle.indexOf(part, from);
      from = at + part.length;
      return at !== -1;
    });
  };
}
