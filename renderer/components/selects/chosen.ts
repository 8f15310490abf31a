import type { Kind } from '../../state/control/control-store.ts';

/** A key or a group. */
export interface Chosen {
  kind: Kind;
  id: string;
}

/** As menus and addresses hold it: `key:k1`. */
export const chosenText = ({ kind, id }: Chosen) => `${kind}:${id}`;

export function chosenOf(text: string): Chosen | null {
  const [kind, ...id] = text.split(':');
  return kind === 'key' || kind === 'group' ? { kind, id: id.join(':') } : null;
}
