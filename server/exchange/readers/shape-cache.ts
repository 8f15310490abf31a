import type { StreamWatch } from '../../apis/core/stream-format.ts';
import type { StreamText } from '../../apis/core/stream-text.ts';
import type { ComparedBytes } from '../../ground/compared-bytes.ts';
import { EventShape, type SeenEvent } from './event-shape.ts';

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
