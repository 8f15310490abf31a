import { useEffect, useState } from 'react';
import { beginEdits, type Edits, followEdits, isSame } from './edits.ts';

interface EditsState<Draft extends object> extends Edits<Draft> {
  change(changes: Partial<Draft>): void;
  isChanged: boolean;
  /** Takes what is in force in place of the edits. */
  reload(): void;
  /** Goes on with the edits; saving them replaces what was changed elsewhere. */
  keep(): void;
}

/** What is typed over `inForce`, kept when that changes. */
export function useEdits<Draft extends object>(inForce: Draft): EditsState<Draft> {
  const [edits, setEdits] = useState(() => beginEdits(inForce));
  // As a text, since it is another object each time.
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
