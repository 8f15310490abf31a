import { Piece, type useDiff } from './diff-pieces.tsx';
import classes from './SendAgain.module.css';

interface ComparedTextProps {
  head: string;
  text: string;
  /** Result of the comparison; null until computed, or if there is nothing to compare with. */
  pieces: ReturnType<typeof useDiff>;
  /** Which of the two compared texts this is. */
  side: 'first' | 'second';
}

/** One of two answers, with the differences from the other marked. */
export function ComparedText({ head, text, pieces, side }: ComparedTextProps) {
  const ownPieces = pieces?.filter((piece) => piece.side === 'both' || piece.side === side);
  return (
    <section className={classes.text} aria-label={head}>
      <p className={classes.side}>{head}</p>
      {ownPieces ? ownPieces.map((piece) => <Piece key={piece.key} side={piece.side} text={piece.text} />) : text}
    </section>
  );
}
