/** `list.push(...more)` for lists from strangers: as arguments very many of them would not fit on the stack. */
export function append<Item>(list: Item[], more: readonly Item[]): void {
  for (const item of more) list.push(item);
}
