/** The table's own entry for a key from an untrusted source; undefined for inherited members such as `constructor`. */
export function entryOf<Value>(table: Readonly<Record<string, Value>>, word: unknown): Value | undefined {
  return typeof word === 'string' && Object.hasOwn(table, word) ? table[word] : undefined;
}
