/**
 * What was typed and not saved. Whoever would throw it away asks here first, and acts at once or when the person has said
 * that it may be lost. Pure; knows no form.
 */
export interface UnsavedEdits {
  /** `isDirty` is asked when it matters. `scope`: of the dialog that the form is in, else null. Returns what ends it. */
  watch(isDirty: () => boolean, scope: symbol | null): () => void;
  /** Within `scope` only, if it is given. */
  has(scope?: symbol): boolean;
  /** Acts now if nothing would be lost, else when the person has agreed. */
  ask(act: () => void, scope?: symbol): void;
  /** Whether the person is being asked. */
  isAsking(): boolean;
  /** The person's answer: nothing happens, or what was asked about does. */
  keep(): void;
  discard(): void;
  /** Calls back when `isAsking` changes. Returns what ends it. */
  subscribe(listener: () => void): () => void;
}

export function createUnsavedEdits(): UnsavedEdits {
  const forms = new Map<symbol, { isDirty(): boolean; scope: symbol | null }>();
  const listeners = new Set<() => void>();
  let waiting: (() => void) | null = null;
  const setWaiting = (act: (() => void) | null) => {
    waiting = act;
    for (const listener of listeners) listener();
  };
  const has = (scope?: symbol) =>
    [...forms.values()].some((form) => (scope === undefined || form.scope === scope) && form.isDirty());
  return {
    watch(isDirty, scope) {
      const id = Symbol('form');
      forms.set(id, { isDirty, scope });
      return () => forms.delete(id);
    },
    has,
    ask(act, scope) {
      if (has(scope)) setWaiting(act);
      else act();
    },
    isAsking: () => waiting !== null,
    keep: () => setWaiting(null),
    discard() {
      const act = waiting;
      setWaiting(null);
      act?.();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Of this window. */
export const unsavedEdits = createUnsavedEdits();
