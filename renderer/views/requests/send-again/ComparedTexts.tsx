import { useMessages } from '../../../messages/use-messages.ts';
import { ComparedText } from './ComparedText.tsx';
import { useDiff } from './diff-pieces.tsx';
import classes from './SendAgain.module.css';

interface ComparedTextsProps {
  /** Null if it was not kept. */
  first: string | null;
  second: string | null;
  /** Headings of the first and second text. */
  heads: readonly [first: string, second: string];
  /** Long parts that do not differ are left out. */
  isFolded?: boolean;
}

/** Two texts side by side, with their differences marked. */
export function ComparedTexts({ first, second, heads, isFolded = false }: ComparedTextsProps) {
  const { inspector: names } = useMessages();
  const pieces = useDiff(first, second);
  const [firstHead, secondHead] = heads;
  if (first === null || second === null) {
    return (
      <section className={classes.text} aria-label={second === null ? firstHead : secondHead}>
        <p className={classes.soft}>{names.notKept(second === null ? secondHead : firstHead)}</p>
        {first ?? second}
      </section>
    );
  }
  if (first === second) return <p className={classes.soft}>{names.sameText}</p>;
  return (
    <div className={classes.texts}>
      <ComparedText head={firstHead} text={first} pieces={pieces} side="first" isFolded={isFolded} />
      <ComparedText head={secondHead} text={second} pieces={pieces} side="second" isFolded={isFolded} />
    </div>
  );
}
