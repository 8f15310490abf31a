/** Compiles patterns such as `gpt-*`; `*` stands for any run of characters, everything else for itself, case and all. */
export function matchesAny(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.includes('*')) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const wild = patterns.filter((pattern) => pattern.includes('*')).map(toRegExp);
  return (name) => exact.has(name) || wild.some((expression) => expression.test(name));
}

function toRegExp(pattern: string): RegExp {
  const source = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${source.join('.*')}$`, 's');
}
