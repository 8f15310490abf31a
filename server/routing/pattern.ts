/** Compiles patterns such as `gpt-*`; `*` stands for any run of characters, everything else for itself, case and all. */
export function matchesAny(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.includes('*')) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const wild = patterns.filter((pattern) => pattern.includes('*')).map(compile);
  return (name) => exact.has(name) || wild.some((matches) => matches(name));
}

/** No regular expression: with several `*` one would take a time that explodes with the length of the name, which a client chooses. */
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
