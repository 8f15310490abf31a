import { lazy, Suspense, useDeferredValue } from 'react';
import classes from './MarkdownText.module.css';
import type { MarkdownTextProps } from './MarkdownText.tsx';

const MarkdownText = lazy(() => import('./MarkdownText.tsx'));

/** A model's answer, shown as plain text until the Markdown renderer is loaded. */
export function AnswerText({ text, pieces }: MarkdownTextProps) {
  // Rendering a long answer must not delay typing while the answer grows.
  const drawn = useDeferredValue(text);
  return (
    <Suspense fallback={<p className={classes.source}>{drawn}</p>}>
      <MarkdownText text={drawn} pieces={pieces} />
    </Suspense>
  );
}
