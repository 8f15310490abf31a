import { useEffect, useState } from 'react';

/** Edits to values that others can change meanwhile. Pure. */
export interface Edits<Draft extends object> {
  /** The values that were last in force. */
  base: Draft;
  draft: Draft;
  /** A field edited here was also changed elsewhere, and the person has not yet decided between the two. */
  hasConflict: boolean;
}

export function startEdits<Draft extends object>(current: Draft): Edits<Draft> {
  return { base: current, draft: current, hasConflict: false };
}

/** Rebases the edits on new values: unedited fields follow them, edited fields keep what was typed. */
export function rebaseEdits<Draft extends object>(edits: Edits<Draft>, current: Draft): Edits<Draft> {
  const draft = { ...current };
  let { hasConflict } = edits;
  for (const field of fieldsOf(current, edits.base, edits.draft)) {
    if (isEqual(edits.draft[field], edits.base[field])) continue;
    draft[field] = edits.draft[field];
    const isChangedElsewhere = !isEqual(current[field], edits.base[field]) && !isEqual(current[field], draft[field]);
    hasConflict ||= isChangedElsewhere;
  }
  return { base: current, draft, hasConflict };
}

/**
 * The edits after `sent` has been saved: what was edited since then stays unsaved, and everything else follows the values
 * in force. Those may not have been reported yet.
 */
export function settleEdits<Draft extends object>(edits: Edits<Draft>, sent: Edits<Draft>): Edits<Draft> {
  const base = { ...edits.base };
  const draft = { ...edits.draft };
  let hasConflict = false;
  for (const field of fieldsOf(base, draft, sent.base, sent.draft)) {
    const isReported = !isEqual(base[field], sent.base[field]);
    if (!isReported) base[field] = sent.draft[field];
    if (isEqual(draft[field], sent.draft[field])) draft[field] = base[field];
    // A field that was not saved was changed elsewhere meanwhile, and is edited here.
    hasConflict ||= isReported && isEqual(sent.draft[field], sent.base[field]) && !isEqual(draft[field], base[field]);
  }
  return { base, draft, hasConflict };
}

/** A field that has no value may be missing from any of them. */
function fieldsOf<Draft extends object>(...values: Draft[]): Set<keyof Draft> {
  return new Set(values.flatMap((value) => Object.keys(value) as (keyof Draft)[]));
}

export function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

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
