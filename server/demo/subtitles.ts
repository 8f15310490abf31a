/** A text laid out over the time that its sound takes: segments, words, and the two subtitle formats. */

export interface TimedText {
  text: string;
  /** Seconds from the beginning. */
  start: number;
  end: number;
}

/** One segment a sentence or line, each as long as its share of the characters. */
export function segmentsOf(text: string, duration: number): TimedText[] {
  return spread(text.match(/[^.!?\n]+[.!?\n]*\s*|[.!?\n]+\s*/gu) ?? [], duration);
}

export function wordsOf(text: string, duration: number): TimedText[] {
  return spread(text.match(/\S+\s*/gu) ?? [], duration);
}

function spread(pieces: readonly string[], duration: number): TimedText[] {
  const characters = pieces.reduce((sum, piece) => sum + piece.length, 0);
  let before = 0;
  return pieces.map((piece) => {
    const start = milliseconds((before / characters) * duration);
    before += piece.length;
    return { text: piece.trim(), start, end: milliseconds((before / characters) * duration) };
  });
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

export function toSrt(segments: readonly TimedText[]): string {
  const cues = segments.map((segment, index) => {
    return `${index + 1}\n${clock(segment.start, ',')} --> ${clock(segment.end, ',')}\n${segment.text}\n\n`;
  });
  return cues.join('');
}

export function toVtt(segments: readonly TimedText[]): string {
  const cues = segments.map(({ start, end, text }) => `${clock(start, '.')} --> ${clock(end, '.')}\n${text}\n\n`);
  return `WEBVTT\n\n${cues.join('')}`;
}

/** `00:01:02,500`, with the mark that stands before the thousandths. */
function clock(seconds: number, mark: string): string {
  return new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23).replace('.', mark);
}
