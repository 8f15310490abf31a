/**
 * Bounds the part of V8's heap that is used for what Sluice parses whole, which is all that it translates. A body of many
 * small values takes up to 66 times its length, and beyond the heap's limit the process ends, with all its streams.
 */
import { getHeapStatistics } from 'node:v8';
import { GatewayError } from '../../contract/errors.ts';

/** Of V8's limit. The rest is for all other work, and for garbage that has yet to be collected. */
const share = 0.5;
/** What a value takes at most while it is parsed and translated: measured for every pair of APIs. */
const bytesPerValue = 450;
/** Text exists as body, as value and in the new body, in two bytes a character if one of them needs two. */
const bytesPerByte = 8;
const retryAfterSeconds = 5;

export interface ParsedSize {
  bytes: number;
  /** Number of JSON values, at any depth. */
  values: number;
}

export class HeapShare {
  readonly #limitBytes: number;
  #heldBytes = 0;

  constructor(heapBytes: number = getHeapStatistics().heap_size_limit) {
    this.#limitBytes = heapBytes * share;
  }

  /** Whether this can be parsed now beside all that is held. */
  hasRoomFor(size: ParsedSize): boolean {
    return this.#heldBytes + heapBytesOf(size) <= this.#limitBytes;
  }

  /**
   * Counts what a request needs, in place of what it `held` so far. Returns the bytes it holds from now on.
   * @throws GatewayError `too_large` if it needs more than there is, `overloaded` if it does because of others
   */
  hold(size: ParsedSize, held: number): number {
    const bytes = heapBytesOf(size);
    if (bytes > this.#limitBytes) throw tooLarge(size, this.#limitBytes);
    if (bytes > held && this.#heldBytes - held + bytes > this.#limitBytes) throw overloaded();
    this.release(held - bytes);
    return bytes;
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}

function heapBytesOf({ bytes, values }: ParsedSize): number {
  return bytes * bytesPerByte + values * bytesPerValue;
}

function tooLarge({ bytes, values }: ParsedSize, limitBytes: number): GatewayError {
  const [size, limit] = [bytes, limitBytes].map((each) => Math.round(each / 1e6));
  const message =
    `The request is too large to be translated for this provider: ${size} MB with ${values} JSON values do not fit in ${limit} MB. ` +
    'Send fewer or longer blocks, choose a provider of this API, or start Sluice with more memory (NODE_OPTIONS=--max-old-space-size=MB).';
  return new GatewayError('too_large', message);
}

function overloaded(): GatewayError {
  const message =
    'Sluice is translating as many large requests at the same time as its memory allows. Try again later.';
  return new GatewayError('overloaded', message, { retryAfterSeconds });
}
