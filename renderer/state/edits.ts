/** What is typed over what is in force, which others can change meanwhile. Pure. */
export interface Edits<Draft extends object> {
  /** What was in force last. */
  base: Draft;
  draft: Draft;
  /** Something that is edited here was changed elsewhere too, and the person has not said which is to hold. */
  isOvertaken: boolean;
}

export function beginEdits<Draft extends object>(inForce: Draft): Edits<Draft> {
  return { base: inForce, draft: inForce, isOvertaken: false };
}

/** Something else is in force now: what is not edited follows it, what is edited stays as it was typed. */
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
