import { createContext, useContext, useEffect, useRef } from 'react';

/**
 * Tracks unsaved edits. Code that would discard them asks here first. It then acts at once, or when the person has
 * agreed. Pure; independent of any form.
 */
interface UnsavedEdits {
  /**
   * `isDirty` is called when needed. `scope`: that of the dialog around the form, or null. Returns the unsubscribe
   * function.
   */
  watch(isDirty: () => boolean, scope: symbol | null): () => void;
  /** Limited to `scope`, if given. */
  has(scope?: symbol): boolean;
  /** Acts now if nothing would be lost, otherwise once the person has agreed. */
  confirmThen(action: () => void, scope?: symbol): void;
  /** Whether the question is currently shown to the person. */
  isAsking(): boolean;
  /** The person's answer: `keep` drops the pending action, `discard` runs it. */
  keep(): void;
  discard(): void;
  /** Calls back when `isAsking` changes. Returns the unsubscribe function. */
  subscribe(listener: () => void): () => void;
}

export function createUnsavedEdits(): UnsavedEdits {
  const forms = new Map<symbol, { isDirty(): boolean; scope: symbol | null }>();
  const listeners = new Set<() => void>();
  let pendingAction: (() => void) | null = null;
  const setPendingAction = (action: (() => void) | null) => {
    pendingAction = action;
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
    confirmThen(action, scope) {
      if (has(scope)) setPendingAction(action);
      else action();
    },
    isAsking: () => pendingAction !== null,
    keep: () => setPendingAction(null),
    discard() {
      const action = pendingAction;
      setPendingAction(null);
      action?.();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The instance for this window. */
export const unsavedEdits = createUnsavedEdits();

/** The dialog around a form; null if the form is directly on its screen. */
export const UnsavedScope = createContext<symbol | null>(null);

/** While the form is mounted and `isDirty`, leaving it needs confirmation. */
export function useUnsaved(isDirty: boolean): void {
  const scope = useContext(UnsavedScope);
  const current = useRef(isDirty);
  useEffect(() => {
    current.current = isDirty;
  }, [isDirty]);
  useEffect(() => unsavedEdits.watch(() => current.current, scope), [scope]);
}
