import { useEffect, useState } from 'react';
import { beginEdits, type Edits, followEdits, isSame } from './edits.ts';

interface EditsState<Draft extends object> extends Edits<Draft> {
  change(changes: Partial<Draft>): void;
  isChanged: boolean;
  /** Replaces the edits with the values in force. */
  reload(): void;
  /** Keeps the edits; saving them then overwrites the changes made elsewhere. */
  keep(): void;
}

/** Holds edits over `inForce`, and keeps them when `inForce` changes. */
export function useEdits<Draft extends object>(inForce: Draft): EditsState<Draft> {
  const [edits, setEdits] = useState(() => beginEdits(inForce));
  // Compared as text, because it is a new object on each render.
  const text = JSON.stringify(inForce);
  useEffect(() => setEdits((old) => followEdits(old, JSON.parse(text))), [text]);
  return {
    ...edits,
    isChanged: !isSame(edits.draft, edits.base),
    change: (changes) => setEdits((old) => ({ ...old, draft: { ...old.draft, ...changes } })),
    reload: () => setEdits(({ base }) => beginEdits(base)),
    keep: () => setEdits((old) => ({ ...old, isOvertaken: false })),
  };
}
