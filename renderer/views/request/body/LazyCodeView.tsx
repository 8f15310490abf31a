import { type ComponentType, useEffect, useState } from 'react';
import { ListSkeleton } from '../../../components/ListSkeleton.tsx';
import type { CodeViewProps } from './CodeView.tsx';

let loaded: ComponentType<CodeViewProps> | null = null;

/** Fetches the code view before one is shown. Rejects if it cannot be fetched; another call fetches it again. */
export async function loadCodeView(): Promise<void> {
  loaded = (await import('./CodeView.tsx')).CodeView;
}

/** A code view as soon as its file is here. Not by `Suspense`, which holds back what comes after its fallback for 300 ms. */
export function LazyCodeView(props: CodeViewProps) {
  const [CodeView, setCodeView] = useState(() => loaded);
  useEffect(() => {
    if (CodeView) return;
    const draw = () => setCodeView(() => loaded);
    // Thrown where the screen's boundary hears it.
    const fail = (problem: unknown) =>
      setCodeView(() => {
        throw problem;
      });
    loadCodeView().then(draw, fail);
  }, [CodeView]);
  return CodeView ? <CodeView {...props} /> : <ListSkeleton rows={4} rowHeight={20} />;
}
