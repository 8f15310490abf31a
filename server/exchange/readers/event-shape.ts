/**
 * The events of a stream differ from one another in few places: what the model says, a counter, a padding. A shape is an
 * event that was looked into, with those places left open. Whatever has the same bytes around them and sound JSON in them
 * is what that event was: it parses, it is no error and no end, and its text stands where that one's stood.
 */
import { endOfDigits, endOfString } from '../../wire/json/json-ends.ts';

/** Members that decide nothing but what is said: strings, whose inside is the first group, and what counts the events. */
const openPlaces =
  /"(?:content|text|delta|reasoning|reasoning_content|arguments|obfuscation)"\s*:\s*"((?:[^"\\]|\\.)*)"|"sequence_number"\s*:\s*(\d+)(?=\s*[,}])/g;

/** What is longer is seldom followed by its like. */
const maxShapeBytes = 4096;

interface Place {
  start: number;
  end: number;
  kind: 'text' | 'string' | 'number';
}

/** Bytes that stay the same, and what comes after them; null at the event's end. */
interface Part {
  fixed: Buffer;
  place: Place['kind'] | null;
  /** Where in `fixed` begins what is not to be sent, or -1. */
  cutAt: number;
}

/** What was found out about an event by looking into it. */
export interface SeenEvent {
  /** With its blank line. */
  bytes: Buffer;
  /** What is sent in its place: the same, or what is left when one piece was taken out. */
  passing: Buffer;
  /** What it adds to the text that is kept; null where none is. */
  text: string | null;
}

export class EventShape {
  /** Of the latest match: its end, where its text is, and what of it is not to be sent; empty where there is none. */
  end = 0;
  textStart = 0;
  textEnd = 0;
  cutStart = 0;
  cutEnd = 0;
  sequenceNumber: number | null = null;
  /** Not all of its texts are empty. */
  saysSomething = false;
  readonly #hasStrings: boolean;
  readonly #parts: readonly Part[];
  readonly #cutBytes: number;

  private constructor(parts: readonly Part[], cutBytes: number) {
    this.#parts = parts;
    this.#cutBytes = cutBytes;
    this.#hasStrings = parts.some(({ place }) => place === 'text' || place === 'string');
  }

  /** Of an event that is sound and no error. Null where nothing is open, or it cannot be told which place is the text's. */
  static of(event: SeenEvent): EventShape | null {
    const { bytes } = event;
    if (bytes.length > maxShapeBytes) return null;
    const places = [...bytes.toString('latin1').matchAll(openPlaces)].map(placeOf);
    const cut = cutOf(event);
    if (places.length === 0 || !cut || !findText(places, event)) return null;
    const parts = partsOf(bytes, places, cut);
    return parts.some(({ cutAt }) => cutAt !== -1) ? new EventShape(parts, cut.end - cut.start) : null;
  }

  /** Whether an event of this shape begins at `from`. */
  match(bytes: Buffer, from: number): boolean {
    let at = from;
    this.saysSomething = !this.#hasStrings;
    for (const { fixed, place, cutAt } of this.#parts) {
      const start = at + fixed.length;
      if (start > bytes.length || fixed.compare(bytes, at, start) !== 0) return false;
      if (cutAt !== -1) this.#noteCut(at + cutAt);
      at = endOfPlace(bytes, start, place);
      if (at === -1) return false;
      if (at > start) this.saysSomething = true;
      if (place === 'text') this.#noteText(start, at);
      if (place === 'number') this.sequenceNumber = Number(bytes.toString('latin1', start, at));
    }
    this.end = at;
    return true;
  }

  #noteCut(start: number): void {
    this.cutStart = start;
    this.cutEnd = start + this.#cutBytes;
  }

  #noteText(start: number, end: number): void {
    this.textStart = start;
    this.textEnd = end;
  }
}

/** -1 where something else stands there. */
function endOfPlace(bytes: Buffer, start: number, place: Part['place']): number {
  if (place === null) return start;
  return place === 'number' ? endOfDigits(bytes, start) : endOfString(bytes, start);
}

function placeOf({ 0: all, 1: inside, 2: digits = '', index }: RegExpExecArray): Place {
  const end = index + all.length;
  if (inside !== undefined) return { start: end - 1 - inside.length, end: end - 1, kind: 'string' };
  return { start: end - digits.length, end, kind: 'number' };
}

/** What was taken out, empty where nothing was; null if it was not one piece. */
function cutOf({ bytes, passing }: SeenEvent): { start: number; end: number } | null {
  if (passing === bytes) return { start: 0, end: 0 };
  const start = bytes.findIndex((byte, index) => byte !== passing[index]);
  const end = start + bytes.length - passing.length;
  return start !== -1 && bytes.subarray(end).equals(passing.subarray(start)) ? { start, end } : null;
}

/** False where the place cannot be told: another says the same, or nothing, as the text does. */
function findText(places: readonly Place[], { bytes, text }: SeenEvent): boolean {
  if (text === null) return true;
  const saysIt = ({ start, end, kind }: Place) =>
    kind === 'string' && JSON.parse(`"${bytes.toString('utf8', start, end)}"`) === text;
  const [first, ...others] = places.filter(saysIt);
  if (text === '') return first === undefined;
  if (first) first.kind = 'text';
  return first !== undefined && others.length === 0;
}

/** Copies, so that no chunk of a connection is kept alive. */
function partsOf(bytes: Buffer, places: readonly Place[], cut: { start: number; end: number }): Part[] {
  const all = [...places, { start: bytes.length, end: bytes.length, kind: null }];
  return all.map(({ start: end, kind }, index) => {
    const start = places[index - 1]?.end ?? 0;
    const isCut = start <= cut.start && cut.end <= end;
    return { fixed: Buffer.from(bytes.subarray(start, end)), place: kind, cutAt: isCut ? cut.start - start : -1 };
  });
}
