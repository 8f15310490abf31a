/**
 * Translates the events that make up nearly all of a stream without parsing them: those that add a piece to a text, a
 * thought or a call's arguments and differ in nothing else. Both APIs escape the piece for JSON in the same way, so it
 * is copied into the client's event unchanged.
 */

import type { TranslatedEvents } from '../../apis/translation/translated-events.ts';
import type { ComparedBytes } from '../../ground/compared-bytes.ts';
import { EventShape } from '../readers/event-shape.ts';

/**
 * Building a shape costs as much as translating a few events, so it stops on a stream whose events have little in
 * common.
 */
const initialAttempts = 16;
const matchesPerAttempt = 16;

export class TextFastPath {
  readonly #events: TranslatedEvents;
  #shape: EventShape | null = null;
  #attempts = 0;
  #matches = 0;
  #translated = '';
  /** The latest event that matched, if it reports token counts: only the last count matters. */
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

  /** The event with the latest token counts; null if it was taken already. */
  takeCounting(): Buffer | null {
    const counting = this.#counting?.subarray(this.#countingFrom, this.#countingEnd) ?? null;
    this.#counting = null;
    return counting;
  }

  /** Called after each parsed event. Only an event that just adds text leaves the meaning of the next one unchanged. */
  learn(bytes: Buffer): void {
    this.#shape = null;
    const text = this.#events.onlyDelta?.text;
    if (text === undefined || this.#attempts > initialAttempts + this.#matches / matchesPerAttempt) return;
    this.#attempts++;
    this.#shape = EventShape.ofText({ bytes, passing: bytes, text });
  }

  /** Returns and clears the translation of the events that have matched. */
  takeTranslated(): string {
    const translated = this.#translated;
    this.#translated = '';
    return translated;
  }
}
