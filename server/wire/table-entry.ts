/** What a table has for a stranger's word; nothing for `constructor` and what else every object has. */
export function entryOf<Value>(table: Readonly<Record<string, Value>>, word: unknown): Value | undefined {
  return typeof word === 'string' && Object.hasOwn(table, word) ? table[word] : undefined;
}
