/** G and then the letter of a place, which opens it: `G T` for Traffic. Pure. */
import { type Place, places } from '../../../server/contract/places.ts';
import { isComposing, type KeyPress } from './shortcuts.ts';

/** Longer pauses are two separate key presses. */
const longestPauseMs = 1_500;

/** `begun`: G, which waits for a letter. Null if the key means nothing here. */
type GoKey = 'begun' | Place | null;

/** Remembers whether G was pressed last. */
export function createGoKeys(nowMs: () => number): (press: KeyPress & { shiftKey: boolean }) => GoKey {
  let begunAtMs: number | null = null;
  return (press) => {
    const begun = begunAtMs;
    begunAtMs = null;
    if (press.altKey || press.ctrlKey || press.metaKey || press.shiftKey || isComposing(press)) return null;
    if (begun !== null && nowMs() - begun <= longestPauseMs) {
      const place = places.find(({ letter }) => letter === press.key);
      if (place) return place;
    }
    if (press.key !== 'g') return null;
    begunAtMs = nowMs();
    return 'begun';
  };
}

/** The keys as labelled on the keyboard. */
export const goKeyCaps = ({ letter }: Pick<Place, 'letter'>): string[] => ['G', letter.toUpperCase()];
