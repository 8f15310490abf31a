import { createContext, useContext, useEffect, useRef } from 'react';
import { unsavedEdits } from './unsaved-edits.ts';

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
