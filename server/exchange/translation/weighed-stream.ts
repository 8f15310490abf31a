/**
 * A stream that is translated in this thread as long as no piece of it takes long. What comes then is for another thread, which
 * has to take all that came before, and so comes to be where this one is.
 */
import { countValues } from '../../apis/json/json-nodes.ts';
import { TranslatedStream, type TranslatedStreamOptions } from './translated-stream.ts';

/** Translating more at once takes up to 25 ms: a call of a tool has three values or more, and takes up to 20 µs. */
const mostBytes = 1024 * 1024;
const mostValues = 2_000;
/** Shorter ones cannot have so many values that it is worth while to count them. */
const uncountedBytes = 16 * 1024;
/** What waits for the end of a call is translated at once then. */
const mostDelayedEvents = 1_000;
/** The end repeats the whole answer. This is longer than nearly all of them are. */
const mostStreamedBytes = 4 * 1024 * 1024;

/**
 * Whether translating an answer or an event takes long.
 * @param requestValues the number of values in the request, whose tools a provider may repeat
 */
export function isHeavyAnswer(bytes: Buffer, requestValues: number): boolean {
  if (bytes.length < uncountedBytes) return false;
  return bytes.length > mostBytes || countValues(bytes) > mostValues + requestValues;
}

type WeighedStreamOptions = Omit<TranslatedStreamOptions, 'isHeavy'> & { requestValues: number };

export class WeighedStream {
  readonly stream: TranslatedStream;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Bytes since something was translated. */
  #untranslatedBytes = 0;

  constructor({ requestValues, ...options }: WeighedStreamOptions) {
    this.stream = new TranslatedStream({ ...options, isHeavy: (event) => isHeavyAnswer(event, requestValues) });
  }

  /** As `TranslatedStream.push`. Null if it is for another thread; then this one is of no more use. */
  push(bytes: Buffer): Buffer | null {
    const { stream } = this;
    if (!this.#isLight(bytes.length)) return null;
    const translated = stream.push(bytes);
    if (stream.hasLeftOut) return null;
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    this.#untranslatedBytes = translated.length > 0 ? 0 : this.#untranslatedBytes + bytes.length;
    return translated;
  }

  /** As `TranslatedStream.end`. Null as for `push`. */
  end(): Buffer | null {
    if (!this.#isLight(0)) return null;
    const rest = this.stream.end();
    return this.stream.hasLeftOut ? null : rest;
  }

  /** All that was pushed and did not come to null. To be asked once. */
  takePieces(): Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #isLight(more: number): boolean {
    const { events } = this.stream;
    if (events.isOver) return true;
    const isShort = this.#bytes + more <= mostStreamedBytes && this.#untranslatedBytes + more <= mostBytes;
    return isShort && events.delayedEvents <= mostDelayedEvents;
  }
}
