/** Values that outlive their screen but not the page, such as a conversation or a chosen model. They are not stored. */
import { useCallback, useSyncExternalStore } from 'react';

export interface SessionValue<Value> {
  get(): Value;
  set(next: Value | ((old: Value) => Value)): void;
  subscribe(listener: () => void): () => void;
}

export function createSessionValue<Value extends object | string | number | boolean | null>(
  initial: Value,
): SessionValue<Value> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      value = typeof next === 'function' ? next(value) : next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useSessionValue<Value>(sessionValue: SessionValue<Value>): [Value, SessionValue<Value>['set']] {
  return [useSyncExternalStore(sessionValue.subscribe, sessionValue.get), sessionValue.set];
}

/** The same for an object whose fields change independently. */
export function useSessionFields<Fields extends object>(
  sessionValue: SessionValue<Fields>,
): [Fields, (changes: Partial<Fields>) => void] {
  const [fields, set] = useSessionValue(sessionValue);
  const change = useCallback((changes: Partial<Fields>) => set((old) => ({ ...old, ...changes })), [set]);
  return [fields, change];
}
