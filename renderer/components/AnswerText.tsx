import { lazy, Suspense, useDeferredValue } from 'react';
import classes from './MarkdownText.module.css';

const MarkdownText = lazy(() => import('./MarkdownText.tsx'));

/** What a model wrote; as plain text until its Markdown can be drawn. */
export function AnswerText({ text }: { text: string }) {
  // A long answer must not hold up typing while it is still growing.
  const drawn = useDeferredValue(text);
  return (
    <Suspense fallback={<p className={classes.source}>{drawn}</p>}>
      <MarkdownText text={drawn} />
    </Suspense>
  );
}
