import type { BoundedPattern } from '../../ground/bounded-pattern.ts';

/** How much after a key is examined. */
const valueLength = 300;

interface FoundMember {
  /** The pattern's first group. */
  value: string;
  /** Offset after the key. */
  end: number;
}

/**
 * The first member named `name` at or after `from` whose value matches, in what may be a fragment of JSON. `value` is
 * matched against the text after the key.
 */
export function findMember(text: string, name: string, value: BoundedPattern, from = 0): FoundMember | null {
  const key = `"${name}"`;
  for (let at = text.indexOf(key, from); at !== -1; at = text.indexOf(key, at + key.length)) {
    const end = at + key.length;
    const match = value.exec(text.slice(end, end + valueLength));
    if (match) return { value: match[1] ?? '', end };
  }
  return null;
}
