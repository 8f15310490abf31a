/**
 * Translates the events that make up nearly all of a stream without parsing them: those that add a piece of text and differ in
 * nothing else. The piece is escaped for JSON on both sides alike, so it is put into the client's event as it is.
 */
import type { TranslatedEvents } from '../../translate/translated-events.ts';
import { EventShape } from '../readers/event-shape.ts';

/** Learning costs as much as translating a few events, so it stops on a stream whose events have little in common. */
const freeLessons = 16;
const matchesPerLesson = 16;

export class KnownTexts {
  readonly #events: TranslatedEvents;
  #shape: EventShape | null = null;
  #lessons = 0;
  #matches = 0;
  #translated = '';

  constructor(events: TranslatedEvents) {
    this.#events = events;
  }

  /** For the gate: the shape that matches the event at `from`; null if the event has to be parsed. */
  find(chunk: Buffer, from: number): EventShape | null {
    const shape = this.#shape;
    if (!shape?.match(chunk, from)) return null;
    const { textStart, textEnd } = shape;
    const told = textEnd > textStart ? this.#events.writeEscaped(chunk.toString('utf8', textStart, textEnd)) : '';
    if (told === null) return null;
    this.#matches++;
    this.#translated += told;
    return shape;
  }

  /** Called after each event that was parsed. Any but a text may change what the next text means. */
  learn(bytes: Buffer): void {
    this.#shape = null;
    const text = this.#events.onlyText;
    if (text === null || this.#lessons > freeLessons + this.#matches / matchesPerLesson) return;
    this.#lessons++;
    const shape = EventShape.of({ bytes, passing: bytes, text });
    if (shape?.differsInText) this.#shape = shape;
  }

  /** What the events that matched have become since the last call. */
  takeTranslated(): string {
    const translated = this.#translated;
    this.#translated = '';
    return translated;
  }
}
