/** Framing of a stream that is one JSON array. An event is an element and the bytes before it. */
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { type EventFilter, type EventGate, type Framing, type GateOptions, LargeEnd } from '../framing.ts';
import type { StreamEvent } from '../sse-event.ts';

const jsonType = boundedPattern(/^application\/json\b/i);
const opening = boundedPattern(/^(?:\xef\xbb\xbf)?\s{0,60}\[/);

export const jsonArrayFraming: Framing = {
  contentType: 'application/json; charset=UTF-8',
  isStream: (contentType) => jsonType.test(contentType),
  openGate: (write, options) => new JsonArrayGate(write, options),
  readEvent,
  readPartialEvent: () => ({ name: '', data: '', value: undefined }),
  isKeepAlive: (event) => event.every(isBlank),
  mayBeContent: () => true,
  kindOfRest: (rest) => (rest.every((byte) => isBlank(byte) || byte === closeBracket) ? 'nothing' : 'piece'),
  beginsLikeAnEvent: (bytes) => opening.test(bytes.toString('latin1', 0, 64)),
  /** Whitespace is allowed between two elements. */
  keepAlive: Buffer.from('\n'),
};

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const isBlank = (byte: number) => byte <= 0x20;

/** Parses the element without the bracket or comma before it. */
function readEvent(event: Buffer): StreamEvent | null {
  let start = 0;
  while (start < event.length && event[start] !== openBrace) {
    const byte = event[start] ?? 0;
    if (!isBlank(byte) && byte !== openBracket && byte !== comma) return null;
    start++;
  }
  const data = event.toString('utf8', start);
  try {
    const value: unknown = JSON.parse(data);
    return { name: '', data, value };
  } catch {
    return null;
  }
}

const usualMaxHeldBytes = 64 * 1024;

class JsonArrayGate implements EventGate {
  readonly #write: (bytes: Buffer) => void;
  readonly #filter: EventFilter;
  readonly #maxHeldBytes: number;
  readonly #largeEnd: GateOptions['largeEnd'];
  readonly #tail = new LargeEnd();
  #heldParts: Buffer[] = [];
  #heldBytes = 0;
  #insideLargeEvent = false;
  /** Counts only braces, because brackets within an element are closed before it ends. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  constructor(write: (bytes: Buffer) => void, { filter, maxHeldBytes = usualMaxHeldBytes, largeEnd }: GateOptions) {
    this.#write = write;
    this.#filter = filter;
    this.#maxHeldBytes = maxHeldBytes;
    this.#largeEnd = largeEnd;
  }

  get insideEvent(): boolean {
    return this.#insideLargeEvent;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      if (!this.#endsElement(chunk[at] ?? 0)) continue;
      this.#end(chunk.subarray(from, at + 1));
      from = at + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
  }

  takeRest(): Buffer {
    const rest = Buffer.concat(this.#heldParts);
    this.#forgetHeld();
    return rest;
  }

  #endsElement(byte: number): boolean {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === backslash) this.#isEscaped = true;
      else if (byte === quote) this.#isInString = false;
      return false;
    }
    if (byte === quote) this.#isInString = true;
    else if (byte === openBrace) this.#depth++;
    else if (byte === closeBrace && this.#depth > 0) return --this.#depth === 0;
    return false;
  }

  #end(last: Buffer): void {
    if (this.#insideLargeEvent) {
      this.#insideLargeEvent = false;
      this.#tail.add(last);
      this.#largeEnd?.(this.#tail.take());
      this.#write(last);
      return;
    }
    const event = this.#heldBytes === 0 ? last : Buffer.concat([...this.#heldParts, last]);
    this.#forgetHeld();
    const filtered = this.#filter(event, true);
    if (filtered) this.#write(filtered);
  }

  #hold(part: Buffer): void {
    if (this.#insideLargeEvent) {
      this.#tail.add(part);
      this.#write(part);
      return;
    }
    this.#heldParts.push(part);
    this.#heldBytes += part.length;
    if (this.#heldBytes <= this.#maxHeldBytes) return;
    this.#insideLargeEvent = true;
    const beginning = Buffer.concat(this.#heldParts);
    this.#forgetHeld();
    this.#filter(beginning, false);
    this.#tail.add(beginning);
    this.#write(beginning);
  }

  #forgetHeld(): void {
    this.#heldParts = [];
    this.#heldBytes = 0;
  }
}
