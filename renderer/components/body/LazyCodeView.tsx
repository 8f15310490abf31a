import { type ComponentType, useEffect, useState } from 'react';
import { ListSkeleton } from '../feedback/ListSkeleton.tsx';
import type { CodeViewProps } from './CodeView.tsx';

let loaded: ComponentType<CodeViewProps> | null = null;

/** Loads the code view in advance. Rejects if that fails; a further call tries again. */
export async function loadCodeView(): Promise<void> {
  loaded = (await import('./CodeView.tsx')).CodeView;
}

/**
 * Renders the code view once its file is loaded. Does not use `Suspense`, which delays the content after its fallback
 * by 300 ms.
 */
export function LazyCodeView(props: CodeViewProps) {
  const [CodeView, setCodeView] = useState(() => loaded);
  useEffect(() => {
    if (CodeView) return;
    const draw = () => setCodeView(() => loaded);
    // Thrown during rendering, so that the screen's error boundary catches it.
    const fail = (problem: unknown) =>
      setCodeView(() => {
        throw problem;
      });
    loadCodeView().then(draw, fail);
  }, [CodeView]);
  return CodeView ? <CodeView {...props} /> : <ListSkeleton rows={4} rowHeight={20} />;
}
