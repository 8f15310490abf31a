/** Decides which faults can be injected into one request together: all that do not end it in two different ways. */
import { endsAnswer, type Fault, isEarly, needsStream, replacesAnswer } from './fault-kinds.ts';

/** Why no request can get both; null if one can. */
export function conflictOf(one: Fault, other: Fault): string | null {
  if (one.name === other.name) return `"${one.name}" is given twice.`;
  const beginning = `"${one.name}" and "${other.name}" cannot be combined`;
  const replacing = [one, other].filter(replacesAnswer);
  if (replacing.length === 2) return `${beginning}: each is sent in place of the answer.`;
  const [insteadFault] = replacing;
  if (insteadFault && !(isEarly(one) && isEarly(other)))
    return `${beginning}: "${insteadFault.name}" leaves no answer to change.`;
  return endsAnswer(one) && endsAnswer(other) ? `${beginning}: each ends the answer.` : null;
}

/** Whether a request that is due for both gets only `one`. */
function displaces(one: Fault, other: Fault, isBefore: boolean): boolean {
  if (conflictOf(one, other) === null) return false;
  return replacesAnswer(one) === replacesAnswer(other) ? isBefore : replacesAnswer(one);
}

/**
 * The faults that a request gets if several rules apply: of faults that cannot be combined, the one that replaces the
 * answer, otherwise the first.
 */
export function combined(dueFaults: readonly Fault[]): readonly Fault[] {
  if (dueFaults.length < 2) return dueFaults;
  return dueFaults.filter(
    (fault, index) => !dueFaults.some((other, at) => at !== index && displaces(other, fault, at < index)),
  );
}

interface Rule {
  fault: Fault;
  /** The rule's conditions; if empty, it applies to every request. */
  when: object;
}

/** The index of a rule that can never apply, and of the rule that prevents it; null if there is none. */
export function findUnmetRule(rules: readonly Rule[]): { index: number; because: number } | null {
  for (const [index, { fault }] of rules.entries()) {
    const because = rules.findIndex(
      (rule, at) => at !== index && isUnconditional(rule, fault) && displaces(rule.fault, fault, at < index),
    );
    if (because !== -1) return { index, because };
  }
  return null;
}

/** Whether it applies to all requests that can get the fault. */
function isUnconditional({ fault, when }: Rule, other: Fault): boolean {
  return Object.keys(when).length === 0 && (!needsStream(fault) || needsStream(other));
}
