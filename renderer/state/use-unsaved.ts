import { createContext, useContext, useEffect, useRef } from 'react';
import { unsavedEdits } from './unsaved-edits.ts';

/** The dialog around a form; null: it stands on its screen. */
export const UnsavedScope = createContext<symbol | null>(null);

/** As long as the form is there and `isDirty`, nobody leaves it without being asked. */
export function useUnsaved(isDirty: boolean): void {
  const scope = useContext(UnsavedScope);
  const current = useRef(isDirty);
  useEffect(() => {
    current.current = isDirty;
  }, [isDirty]);
  useEffect(() => unsavedEdits.watch(() => current.current, scope), [scope]);
}
