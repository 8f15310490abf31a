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
  for (const field in current) {
    if (isEqual(edits.draft[field], edits.base[field])) continue;
    draft[field] = edits.draft[field];
    const isChangedElsewhere = !isEqual(current[field], edits.base[field]) && !isEqual(current[field], draft[field]);
    hasConflict ||= isChangedElsewhere;
  }
  return { base: current, draft, hasConflict };
}

export function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
