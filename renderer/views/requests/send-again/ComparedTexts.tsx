import { useEffect, useMemo, useState } from 'react';
import { ModeSwitch } from '../../../components/conversation/ConversationView.tsx';
import { AnswerText } from '../../../components/text/AnswerText.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import classes from './SendAgain.module.css';
import { type DiffPiece, diffTexts, foldedText } from './text-diff.ts';

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

interface ComparedTextProps {
  head: string;
  text: string;
  /** Result of the comparison; null until computed, or if there is nothing to compare with. */
  pieces: ReturnType<typeof useDiff>;
  /** Which of the two compared texts this is. */
  side: 'first' | 'second';
  /** Long parts that do not differ are left out. */
  isFolded?: boolean;
  /** It is rendered; then it is not folded. */
  isMarkdown?: boolean;
}

const marks = { first: 'del', second: 'ins' } as const;

/** One of two texts, with the differences from the other marked. */
export function ComparedText({ head, text, pieces, side, isFolded, isMarkdown }: ComparedTextProps) {
  const { messages, formats } = useLocalization();
  const ownPieces = useMemo(
    () => pieces?.filter((piece) => piece.side === 'both' || piece.side === side),
    [pieces, side],
  );
  const marked = useMemo(
    () => ownPieces?.map(({ text, side }) => ({ text, mark: side === 'both' ? null : marks[side] })),
    [ownPieces],
  );
  const left = (lines: number) => messages.inspector.sameLines(formats.number(lines));
  const shown = (piece: NonNullable<typeof pieces>[number]) =>
    isFolded && piece.side === 'both' ? foldedText(piece.text, left) : piece.text;
  return (
    <section className={`${classes.text} ${isMarkdown ? classes.rendered : ''}`} aria-label={head}>
      <p className={classes.side}>{head}</p>
      {isMarkdown ? (
        <AnswerText text={text} pieces={marked} />
      ) : ownPieces ? (
        ownPieces.map((piece) => <Piece key={piece.key} side={piece.side} text={shown(piece)} />)
      ) : (
        text
      )}
    </section>
  );
}

/** A piece of one of two texts, marked if the other does not contain it. */
function Piece({ side, text }: Pick<DiffPiece, 'side' | 'text'>) {
  if (side === 'first') return <del>{text}</del>;
  return side === 'second' ? <ins>{text}</ins> : text;
}

/** The differences between two texts; null until computed, or without one of them. */
export function useDiff(first: string | null, second: string | null): readonly DiffPiece[] | null {
  const [pieces, setPieces] = useState<readonly DiffPiece[] | null>(null);
  useEffect(() => {
    let isCurrent = true;
    setPieces(null);
    if (first !== null && second !== null) {
      void diffTexts(first, second).then((diff) => {
        if (isCurrent) setPieces(diff);
      });
    }
    return () => {
      isCurrent = false;
    };
  }, [first, second]);
  return pieces;
}
