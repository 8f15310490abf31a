import { useMessages } from '../../../messages/use-messages.ts';
import { ComparedText } from './ComparedText.tsx';
import { useDiff } from './diff-pieces.tsx';
import classes from './SendAgain.module.css';

interface ComparedTextsProps {
  /** Null if it was not kept. */
  first: string | null;
  second: string;
  /** Headings of the first and second text. */
  heads: readonly [first: string, second: string];
}

/** Two answers side by side, with their differences marked. */
export function ComparedTexts({ first, second, heads: [firstHead, secondHead] }: ComparedTextsProps) {
  const { inspector: names } = useMessages();
  const pieces = useDiff(first, second);
  if (first === null) {
    return (
      <section className={classes.text} aria-label={secondHead}>
        <p className={classes.soft}>{names.firstNotKept}</p>
        {second}
      </section>
    );
  }
  if (first === second) return <p className={classes.soft}>{names.sameText}</p>;
  return (
    <div className={classes.texts}>
      <ComparedText head={firstHead} text={first} pieces={pieces} side="first" />
      <ComparedText head={secondHead} text={second} pieces={pieces} side="second" />
    </div>
  );
}
