/** `list.push(...more)` for lists from untrusted sources, which might overflow the stack as arguments. */
export function append<Item>(list: Item[], more: readonly Item[]): void {
  for (const item of more) list.push(item);
}
