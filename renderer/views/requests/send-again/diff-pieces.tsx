import { useEffect, useState } from 'react';
import { type DiffPiece, diffTexts } from './text-diff.ts';

/** A piece of one of two texts, marked if the other does not contain it. */
export function Piece({ side, text }: Pick<DiffPiece, 'side' | 'text'>) {
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
