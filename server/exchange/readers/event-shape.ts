/**
 * Shapes of stream events. The events of a stream differ in few places: the text, a counter, padding. A shape is a parsed
 * event with those places left open. An event with the same bytes around them and valid JSON in them is equivalent to the
 * parsed one: it parses, is neither an error nor an end, and has its text in the same place.
 */

import { ComparedBytes, type StreamWatch } from '../../apis/core/stream-format.ts';
import type { StreamText } from '../../apis/core/wire.ts';
import { endOfDigits, endOfString } from '../../apis/json/json-scan.ts';

/**
 * Members that affect nothing but the content: strings, whose inside is the first group, the sequence number, and Gemini's counts
 * of tokens. Bedrock pads its events with `p`.
 */
const openPlaces =
  /"(?:content|text|delta|thinking|reasoning|reasoning_content|arguments|partial_json|input|obfuscation|p)"\s*:\s*"((?:[^"\\]|\\.)*)"|"sequence_number"\s*:\s*(\d+)(?=\s*[,}])|"(?:candidatesTokenCount|thoughtsTokenCount|totalTokenCount|tokenCount)"\s*:\s*([1-9]\d*)(?=\s*[,}])/g;

/** Longer events rarely repeat. */
const maxShapeBytes = 4096;

interface Place {
  start: number;
  end: number;
  /** `padding`: a string without meaning, of which nothing is kept. `number`: the sequence number. `count`: of tokens. */
  kind: 'text' | 'string' | 'number' | 'count' | 'padding';
}

/** Constant bytes and the place after them; null at the end of the event. */
interface Part {
  fixed: ComparedBytes;
  placeKind: Place['kind'] | null;
  /** Offset in `fixed` of the bytes that are not sent, or -1. */
  cutAt: number;
}

/** A parsed event. */
export interface SeenEvent {
  /** Includes the blank line. */
  bytes: Buffer;
  /** What is sent instead: the same bytes, or those without one piece, such as a `usage` that only Sluice has asked for. */
  passing: Buffer;
  /** The text that it adds; null if text is not kept. */
  text: string | null;
}

export class EventShape {
  /** The latest match: its end, the position of its text, and the range that is not sent; empty ranges if there is none. */
  end = 0;
  textStart = 0;
  textEnd = 0;
  cutStart = 0;
  cutEnd = 0;
  sequenceNumber: number | null = null;
  /** At least one text is not empty. */
  hasText = false;
  /** Its events count tokens. */
  readonly hasCounts: boolean;
  readonly #hasStrings: boolean;
  readonly #parts: readonly Part[];
  readonly #cutBytes: number;

  private constructor(parts: readonly Part[], cutBytes: number) {
    this.#parts = parts;
    this.#cutBytes = cutBytes;
    this.#hasStrings = parts.some(({ placeKind }) => placeKind === 'text' || placeKind === 'string');
    this.hasCounts = parts.some(({ placeKind }) => placeKind === 'count');
  }

  /**
   * The shape of a valid event that is not an error. Null if it has no open place, or the place of its text is ambiguous.
   */
  static of(event: SeenEvent): EventShape | null {
    return EventShape.#of(event, (places) => places);
  }

  /** Like `of`, but its events say nothing differently but their text. Null if the event adds none. */
  static ofText(event: SeenEvent & { text: string }): EventShape | null {
    return EventShape.#of(event, (places) => {
      const others = places.filter(({ kind }) => kind !== 'string');
      return others.some(({ kind }) => kind === 'text') ? others : [];
    });
  }

  static #of(event: SeenEvent, choose: (places: Place[]) => Place[]): EventShape | null {
    const { bytes } = event;
    if (bytes.length > maxShapeBytes) return null;
    const places = [...bytes.toString('latin1').matchAll(openPlaces)].map(placeOf);
    const cut = cutOf(event);
    if (!cut || !findText(places, event)) return null;
    const chosenPlaces = choose(places);
    if (chosenPlaces.length === 0) return null;
    const parts = partsOf(bytes, chosenPlaces, cut);
    return parts.some(({ cutAt }) => cutAt !== -1) ? new EventShape(parts, cut.end - cut.start) : null;
  }

  /** Whether an event of this shape begins at `from`. */
  match(events: ComparedBytes, from: number): boolean {
    const { bytes } = events;
    let at = from;
    this.hasText = !this.#hasStrings;
    for (const { fixed, placeKind, cutAt } of this.#parts) {
      if (!events.hasAt(at, fixed)) return false;
      const start = at + fixed.length;
      if (cutAt !== -1) this.#noteCut(at + cutAt);
      at = endOfPlace(bytes, start, placeKind);
      if (at === -1) return false;
      if (at > start && placeKind !== 'padding' && placeKind !== 'count') this.hasText = true;
      if (placeKind === 'text') this.#noteText(start, at);
      if (placeKind === 'number') this.sequenceNumber = numberAt(bytes, start, at);
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

/** Of digits alone. */
function numberAt(bytes: Buffer, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at++) number = number * 10 + (bytes[at] ?? 0) - zero;
  return number;
}

const zero = 0x30;

/** -1 if the place contains something else. */
function endOfPlace(bytes: Buffer, start: number, placeKind: Part['placeKind']): number {
  if (placeKind === null) return start;
  return placeKind === 'number' || placeKind === 'count' ? endOfDigits(bytes, start) : endOfString(bytes, start);
}

function placeOf({ 0: all, 1: inside, 2: number, 3: count, index }: RegExpExecArray): Place {
  const end = index + all.length;
  if (inside !== undefined) {
    const kind = all.startsWith('"obfuscation"') || all.startsWith('"p"') ? 'padding' : 'string';
    return { start: end - 1 - inside.length, end: end - 1, kind };
  }
  const digits = number ?? count ?? '';
  return { start: end - digits.length, end, kind: number === undefined ? 'count' : 'number' };
}

/** The removed piece, empty if nothing was removed; null if it was more than one piece. */
function cutOf({ bytes, passing }: SeenEvent): { start: number; end: number } | null {
  if (passing === bytes) return { start: 0, end: 0 };
  const start = bytes.findIndex((byte, index) => byte !== passing[index]);
  const end = start + bytes.length - passing.length;
  return start !== -1 && bytes.subarray(end).equals(passing.subarray(start)) ? { start, end } : null;
}

/** False if the place of the text is ambiguous: another place has the same text, or the text is empty. */
function findText(places: readonly Place[], { bytes, text }: SeenEvent): boolean {
  if (text === null) return true;
  const containsText = ({ start, end, kind }: Place) =>
    kind === 'string' && JSON.parse(`"${bytes.toString('utf8', start, end)}"`) === text;
  const [first, ...others] = places.filter(containsText);
  if (text === '') return first === undefined;
  if (first) first.kind = 'text';
  return first !== undefined && others.length === 0;
}

/** Copies, so that the connection's buffers are not kept alive. */
function partsOf(bytes: Buffer, places: readonly Place[], cut: { start: number; end: number }): Part[] {
  const ends = [...places, { start: bytes.length, end: bytes.length, kind: null }];
  return ends.map(({ start: end, kind }, index) => {
    const start = places[index - 1]?.end ?? 0;
    const isCut = start <= cut.start && cut.end <= end;
    return {
      fixed: new ComparedBytes(Buffer.from(bytes.subarray(start, end))),
      placeKind: kind,
      cutAt: isCut ? cut.start - start : -1,
    };
  });
}

/** Parallel choices have different shapes. */
const maxShapes = 4;
/** Building a shape costs as much as parsing five events, so it stops on a stream whose events have little in common. */
const initialAttempts = 16;
const matchesPerAttempt = 16;

/** Caches the shapes of one stream's events. Events that match a shape need not be parsed. */
export class ShapeCache {
  readonly #text: StreamText | null;
  readonly #watch: StreamWatch;
  /** A matched event had content; reset by the caller. */
  sawContent = false;
  #shapes: EventShape[] = [];
  #attempts = 0;
  #matches = 0;

  constructor(text: StreamText | null, watch: StreamWatch) {
    this.#text = text;
    this.#watch = watch;
  }

  learn(event: SeenEvent): void {
    if (this.#attempts > initialAttempts + this.#matches / matchesPerAttempt) return;
    this.#attempts++;
    const shape = EventShape.of(event);
    if (shape) this.#shapes = [shape, ...this.#shapes.slice(0, maxShapes - 1)];
  }

  forget(): void {
    this.#shapes = [];
  }

  /** The known shape that matches the event at `from`, with its offsets, or null. Adds the event's text to what is kept. */
  find(chunk: ComparedBytes, from: number): EventShape | null {
    for (const shape of this.#shapes) {
      if (!shape.match(chunk, from)) continue;
      this.#matches++;
      this.sawContent ||= shape.hasText;
      this.#text?.append(chunk.bytes, shape.textStart, shape.textEnd);
      if (shape.sequenceNumber !== null) this.#count(shape.sequenceNumber);
      return shape;
    }
    return null;
  }

  #count(sequenceNumber: number): void {
    this.#watch.counted(sequenceNumber);
    this.#text?.counted(sequenceNumber);
  }
}
