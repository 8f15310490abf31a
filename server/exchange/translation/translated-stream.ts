/**
 * One upstream's stream, translated event by event as it arrives: in this thread as long as no piece of it takes long.
 */
import type { ComparedBytes, EventGate, Framing } from '../../apis/core/stream-format.ts';
import { countValues } from '../../apis/json/json-nodes.ts';
import type { AnswerError } from '../../apis/neutral/neutral-answer.ts';
import type { TranslatedEvents } from '../../apis/translation/translated-events.ts';
import type { AnswerInputs, TranslatedRequest } from '../../apis/translation/translator.ts';
import { EventShape } from '../readers/event-shape.ts';
import { maxStreamedEventBytes } from '../readers/response-reader.ts';

interface TranslatedStreamOptions {
  request: TranslatedRequest;
  inputs: AnswerInputs;
  framing: Framing;
  /** Whether there is room to parse this. */
  fits(bytes: Buffer): boolean;
  /** Whether an event is for another thread. Absent if all are for this one. */
  isHeavy?: (event: Buffer) => boolean;
}

export class TranslatedStream {
  readonly events: TranslatedEvents;
  readonly #framing: Framing;
  readonly #fits: (bytes: Buffer) => boolean;
  readonly #isHeavy: ((event: Buffer) => boolean) | undefined;
  readonly #fastPath: TextFastPath;
  readonly #gate: EventGate;
  /** What has not been taken yet. */
  #translated = '';
  /** An event was not translated because it is heavy; what followed is of no use. */
  hasLeftOut = false;

  constructor({ request, inputs, framing, fits, isHeavy }: TranslatedStreamOptions) {
    this.events = request.events(inputs);
    this.#framing = framing;
    this.#fits = fits;
    this.#isHeavy = isHeavy;
    this.#fastPath = new TextFastPath(this.events);
    const filter = (event: Buffer) => this.#translate(event);
    this.#gate = framing.openGate(() => {}, { filter, known: this.#fastPath, maxHeldBytes: maxStreamedEventBytes });
  }

  /** Takes a piece of the stream, which may begin and end within an event. */
  push(bytes: Buffer): Buffer {
    this.#gate.push(bytes);
    return this.#takeTranslated();
  }

  /** The upstream's stream is complete. Returns the rest of the client's; empty if it contradicts what the client has. */
  end(): Buffer {
    const { events } = this;
    const rest = this.#gate.takeRest();
    if (rest.length > 0) this.#translate(rest);
    if (this.hasLeftOut) return nothing;
    this.#takeUsage();
    this.#translated += events.end().toString();
    if (events.isDifferent) return nothing;
    if (!events.isOver) this.#translated += events.fail(incomplete).toString();
    return this.#takeTranslated();
  }

  #translate(bytes: Buffer): null {
    const { events } = this;
    this.hasLeftOut ||= !events.isOver && this.#isHeavy?.(bytes) === true;
    if (this.hasLeftOut) return null;
    if (!events.isOver && !this.#fits(bytes)) {
      this.#translated += this.#fastPath.takeTranslated() + events.fail(tooLargeEvent).toString();
      return null;
    }
    const event = this.#framing.isKeepAlive(bytes) ? null : this.#framing.readEvent(bytes);
    if (event) {
      this.#takeUsage();
      this.#translated += this.#fastPath.takeTranslated() + events.write(event);
      this.#fastPath.learn(bytes);
    }
    return null;
  }

  /** Reads the usage from events that were translated without being parsed. */
  #takeUsage(): void {
    const counting = this.#fastPath.takeCounting();
    const event = counting && this.#framing.readEvent(counting);
    if (event) this.events.takeUsage(event);
  }

  #takeTranslated(): Buffer {
    const translated = this.#translated + this.#fastPath.takeTranslated();
    this.#translated = '';
    return translated === '' ? nothing : Buffer.from(translated);
  }
}

const nothing = Buffer.alloc(0);

/** Completes "The provider's answer cannot be used." */
export const tooLarge: AnswerError = {
  message: 'It is too large to be translated: its values do not fit in memory.',
  type: 'server_error',
  code: 'upstream_malformed',
};

const tooLargeEvent = { ...tooLarge, message: `The provider's answer cannot be used. ${tooLarge.message}` };

const incomplete: AnswerError = {
  message: 'The provider ended the stream before it was complete.',
  type: 'server_error',
  code: 'upstream_stream_broken',
};

/**
 * Building a shape costs as much as translating a few events, so it stops on a stream whose events have little in
 * common.
 */
const initialAttempts = 16;
const matchesPerAttempt = 16;

/**
 * Translates the events that make up nearly all of a stream without parsing them: those that add a piece to a text, a
 * thought or a call's arguments and differ in nothing else. Both APIs escape the piece for JSON in the same way, so it
 * is copied into the client's event unchanged.
 */
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

// A stream that is translated in this thread as long as no piece of it takes long. What comes then is for another
// thread, which has to take all that came before, and so comes to be where this one is.

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
