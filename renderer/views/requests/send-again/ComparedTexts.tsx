import { useState } from 'react';
import { ModeSwitch } from '../../../components/conversation/ConversationView.tsx';
import { AnswerText } from '../../../components/text/AnswerText.tsx';
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
  /** They are answers of models, which are rendered unless a person wants them as they came. */
  areAnswers?: boolean;
}

/** Two texts side by side, with their differences marked. */
export function ComparedTexts({ first, second, heads, isFolded = false, areAnswers = false }: ComparedTextsProps) {
  const { inspector: names } = useMessages();
  const pieces = useDiff(first, second);
  const [isRaw, setRaw] = useState(false);
  const isMarkdown = areAnswers && !isRaw;
  const [firstHead, secondHead] = heads;
  if (first === null || second === null) {
    return (
      <section
        className={`${classes.text} ${areAnswers ? classes.rendered : ''}`}
        aria-label={second === null ? firstHead : secondHead}
      >
        <p className={classes.soft}>{names.notKept(second === null ? secondHead : firstHead)}</p>
        {areAnswers ? <AnswerText text={first ?? second ?? ''} /> : (first ?? second)}
      </section>
    );
  }
  if (first === second) return <p className={classes.soft}>{names.sameText}</p>;
  const shared = { pieces, isFolded, isMarkdown };
  return (
    <>
      {areAnswers && <ModeSwitch isRaw={isRaw} onChange={setRaw} />}
      <div className={classes.texts}>
        <ComparedText head={firstHead} text={first} side="first" {...shared} />
        <ComparedText head={secondHead} text={second} side="second" {...shared} />
      </div>
    </>
  );
}
