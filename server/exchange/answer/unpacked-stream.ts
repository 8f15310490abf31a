import type { StreamUnpacker } from '../../apis/core/dialects/dialect.ts';
import { TransportError } from '../../transport/transport-error.ts';
import type { DecodedStream, DecodingStream } from './stream-decoder.ts';

/** A cloud's stream as server-sent events, piece by piece. */
export class UnpackedStream implements DecodingStream {
  readonly #unpacker: StreamUnpacker;
  readonly #to: DecodedStream;
  #hasFailed = false;

  constructor(unpacker: StreamUnpacker, to: DecodedStream) {
    this.#unpacker = unpacker;
    this.#to = to;
  }

  push(chunk: Buffer): void {
    if (this.#hasFailed) return;
    try {
      const events = this.#unpacker.push(chunk);
      if (events.length > 0) this.#to.data(events);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      this.#fail(error);
    }
  }

  end(): void {
    if (this.#hasFailed) return;
    if (this.#unpacker.isBetweenEvents) this.#to.end();
    else this.#fail(new TransportError('malformed', 'body', 'its stream ends within a frame'));
  }

  /** Complete events are never buffered. */
  pause(): void {}

  resume(): void {}

  dispose(): void {}

  #fail(error: TransportError): void {
    this.#hasFailed = true;
    this.#to.error(error);
  }
}
