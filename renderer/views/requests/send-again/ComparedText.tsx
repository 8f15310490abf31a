import { useMemo } from 'react';
import { AnswerText } from '../../../components/text/AnswerText.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { Piece, type useDiff } from './diff-pieces.tsx';
import classes from './SendAgain.module.css';
import { foldedText } from './text-diff.ts';

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
