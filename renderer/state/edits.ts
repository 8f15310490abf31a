/** Edits to values that others can change meanwhile. Pure. */
export interface Edits<Draft extends object> {
  /** The values that were last in force. */
  base: Draft;
  draft: Draft;
  /** A field edited here was also changed elsewhere, and the person has not yet decided between the two. */
  isOvertaken: boolean;
}

export function beginEdits<Draft extends object>(inForce: Draft): Edits<Draft> {
  return { base: inForce, draft: inForce, isOvertaken: false };
}

/** Rebases the edits on new values: unedited fields follow them, edited fields keep what was typed. */
export function followEdits<Draft extends object>(edits: Edits<Draft>, inForce: Draft): Edits<Draft> {
  const draft = { ...inForce };
  let { isOvertaken } = edits;
  for (const field in inForce) {
    if (isSame(edits.draft[field], edits.base[field])) continue;
    draft[field] = edits.draft[field];
    const isChangedElsewhere = !isSame(inForce[field], edits.base[field]) && !isSame(inForce[field], draft[field]);
    isOvertaken ||= isChangedElsewhere;
  }
  return { base: inForce, draft, isOvertaken };
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
