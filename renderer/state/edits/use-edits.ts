import { useEffect, useState } from 'react';
import { type Edits, isEqual, rebaseEdits, settleEdits, startEdits } from './edits.ts';

interface EditsState<Draft extends object> extends Edits<Draft> {
  change(changes: Partial<Draft>): void;
  isChanged: boolean;
  /** Replaces the edits with the values in force. */
  reload(): void;
  /** The edits have been saved as they are in this render; what was typed since then stays. */
  settle(): void;
  /** Keeps the edits; saving them then overwrites the changes made elsewhere. */
  keep(): void;
}

/** Holds edits over `current`, and keeps them when `current` changes. */
export function useEdits<Draft extends object>(current: Draft): EditsState<Draft> {
  const [edits, setEdits] = useState(() => startEdits(current));
  // Compared as text, because it is a new object on each render.
  const text = JSON.stringify(current);
  useEffect(() => setEdits((old) => rebaseEdits(old, JSON.parse(text))), [text]);
  return {
    ...edits,
    isChanged: !isEqual(edits.draft, edits.base),
    change: (changes) => setEdits((old) => ({ ...old, draft: { ...old.draft, ...changes } })),
    reload: () => setEdits(({ base }) => startEdits(base)),
    settle: () => setEdits((latest) => settleEdits(latest, edits)),
    keep: () => setEdits((old) => ({ ...old, hasConflict: false })),
  };
}
