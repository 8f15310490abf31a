/**
 * Translates the events that make up nearly all of a stream without parsing them: those that add a piece to a text, a thought
 * or a call's arguments and differ in nothing else. The piece is escaped for JSON on both sides alike, so it is put into the client's event as it is.
 */

import type { ComparedBytes } from '../../compared-bytes.ts';
import type { TranslatedEvents } from '../../translate/translated-events.ts';
import { EventShape } from '../readers/event-shape.ts';

/** Learning costs as much as translating a few events, so it stops on a stream whose events have little in common. */
const initialAttempts = 16;
const matchesPerAttempt = 16;

export class TextFastPath {
  readonly #events: TranslatedEvents;
  #shape: EventShape | null = null;
  #attempts = 0;
  #matches = 0;
  #translated = '';
  /** The latest event that matched, if it counts tokens: the last count is as good as all. */
  #counting: Buffer | null = null;
  #countingFrom = 0;
  #countingEnd = 0;

  constructor(events: TranslatedEvents) {
    this.#events = events;
  }

  /** For the gate: the shape that matches the event at `from`; null if the event has to be parsed. */
  find(chunk: ComparedBytes, from: number): EventShape | null {
    const shape = this.#shape;
    if (!shape?.match(chunk, from)) return null;
    const { textStart, textEnd } = shape;
    const rendered =
      textEnd > textStart ? this.#events.writeMore(chunk.bytes.toString('utf8', textStart, textEnd)) : '';
    if (rendered === null) return null;
    this.#matches++;
    this.#translated += rendered;
    if (shape.hasCounts) {
      this.#counting = chunk.bytes;
      this.#countingFrom = from;
      this.#countingEnd = shape.end;
    }
    return shape;
  }

  /** The event whose usage is the latest; null if that is known. */
  takeCounting(): Buffer | null {
    const counting = this.#counting?.subarray(this.#countingFrom, this.#countingEnd) ?? null;
    this.#counting = null;
    return counting;
  }

  /** Called after each event that was parsed. Any but a text may change what the next text means. */
  learn(bytes: Buffer): void {
    this.#shape = null;
    const text = this.#events.onlyDelta?.text;
    if (text === undefined || this.#attempts > initialAttempts + this.#matches / matchesPerAttempt) return;
    this.#attempts++;
    this.#shape = EventShape.ofText({ bytes, passing: bytes, text });
  }

  /** What the events that matched have become since the last call. */
  takeTranslated(): string {
    const translated = this.#translated;
    this.#translated = '';
    return translated;
  }
}
