import type { Framing } from '../../apis/core/framing.ts';
import { TransportError } from '../../transport/transport-error.ts';

/** A stream with more events that clients could not parse is treated as broken. */
const maxDroppedEvents = 1_000;

/** The events of a stream that no client could parse, and that are left out for that. */
export class DroppedEvents {
  readonly #framing: Framing;
  #count = 0;
  /** One of them may have been a piece of the answer. */
  #hasLost = false;

  constructor(framing: Framing) {
    this.#framing = framing;
  }

  add(event: Buffer): void {
    this.#count++;
    this.#hasLost ||= this.#framing.mayBeContent(event);
  }

  /** The rest would be an answer with a hole, or never end. */
  get breakStream(): boolean {
    return this.#hasLost || this.#count >= maxDroppedEvents;
  }

  get problem(): TransportError {
    const problem = this.#hasLost ? 'an event that is no valid JSON' : `${maxDroppedEvents} events that are no JSON`;
    return new TransportError('malformed', 'body', problem);
  }
}
