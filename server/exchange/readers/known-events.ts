import type { StreamWatch } from '../../wire/stream-format.ts';
import type { StreamText } from '../../wire/stream-text.ts';
import { EventShape, type SeenEvent } from './event-shape.ts';

/** Several answers beside one another have a shape each. */
const maxShapes = 4;
/** To learn one costs as much as to look into five events: of a stream whose events have little in common it is left be. */
const freeLessons = 16;
const matchesPerLesson = 16;

/** The shapes of one stream's events: what is of one of them need not be looked into. */
export class KnownEvents {
  readonly #text: StreamText | null;
  readonly #watch: StreamWatch;
  /** One of them said something; to be reset by whoever has seen it. */
  hasSaid = false;
  #shapes: EventShape[] = [];
  #lessons = 0;
  #matches = 0;

  constructor(text: StreamText | null, watch: StreamWatch) {
    this.#text = text;
    this.#watch = watch;
  }

  learn(event: SeenEvent): void {
    if (this.#lessons > freeLessons + this.#matches / matchesPerLesson) return;
    this.#lessons++;
    const shape = EventShape.of(event);
    if (shape) this.#shapes = [shape, ...this.#shapes.slice(0, maxShapes - 1)];
  }

  forget(): void {
    this.#shapes = [];
  }

  /** The shape of the event that begins at `from`, with its places, if it is known. What it says is noted. */
  find(chunk: Buffer, from: number): EventShape | null {
    for (const shape of this.#shapes) {
      if (!shape.match(chunk, from)) continue;
      this.#matches++;
      this.hasSaid ||= shape.saysSomething;
      this.#text?.append(chunk, shape.textStart, shape.textEnd);
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
