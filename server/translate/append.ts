/** `list.push(...more)` for lists from untrusted sources, which as arguments might exceed the stack. */
export function append<Item>(list: Item[], more: readonly Item[]): void {
  for (const item of more) list.push(item);
}
