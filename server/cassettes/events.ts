/** Server-sent events in the form in which a cassette stores them. */
import { isUtf8 } from 'node:buffer';
import { LineEnds } from '../apis/core/streams/sse-framing.ts';
import type { StoredPiece } from '../exchange/answer/local-reply.ts';
import { type Redactor, withoutRanges } from '../exchange/redact/redactor.ts';
import { finish, type Steps } from '../ground/promises.ts';
import type { RecordedEvent } from './format.ts';
import { parseShallowJson } from './parse-shallow-json.ts';

/** The event's text, including the empty line that ends it. */
interface TimedText {
  afterMs: number;
  text: string;
}

const jsonEvent = /^(?:event: ([^\n]*)\n)?data: ([^\n]*)\n\n$/;

/** Null if the stream is not UTF-8. */
export function* packEvents(pieces: readonly StoredPiece[], redactor: Redactor): Steps<RecordedEvent[] | null> {
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
  if (!isUtf8(bytes)) return null;
  const events: RecordedEvent[] = [];
  for (const text of splitEvents(bytes, new PieceClock(pieces), yield* redactor.rangesIn(bytes))) {
    events.push(packEvent(text));
    yield;
  }
  return events;
}

export function unpackEvent(event: RecordedEvent): Buffer {
  if ('text' in event) return Buffer.from(event.text);
  const head = event.event === undefined ? '' : `event: ${event.event}\n`;
  return Buffer.from(`${head}data: ${JSON.stringify(event.data)}\n\n`);
}

function packEvent({ afterMs, text }: TimedText): RecordedEvent {
  const [, event, json = ''] = jsonEvent.exec(text) ?? [];
  const data = parseShallowJson(json);
  if (data === undefined || JSON.stringify(data) !== json) return { afterMs, text };
  return { afterMs, ...(event !== undefined && { event }), data };
}

/** Without secrets, of which one may be spread over several events. The time of an event is that of its last piece. */
function* splitEvents(
  bytes: Buffer,
  clock: PieceClock,
  ranges: Parameters<typeof withoutRanges>[1],
): Generator<TimedText> {
  const lineEnds = new LineEnds(bytes);
  let next = 0;
  for (let from = 0, end = 0; from < bytes.length; from = end) {
    const found = lineEnds.endOfEvent(from, true);
    end = found === -1 ? bytes.length : found;
    const first = next;
    while ((ranges[next]?.start ?? end) < end) next++;
    const text = finish(withoutRanges(bytes.subarray(from, end), ranges.slice(first, next), from));
    yield { afterMs: clock.at(end), text: text.toString() };
  }
}

/** The time at which each byte was sent; must be queried in order. */
class PieceClock {
  readonly #pieces: readonly StoredPiece[];
  #index = -1;
  #endBytes = 0;

  constructor(pieces: readonly StoredPiece[]) {
    this.#pieces = pieces;
  }

  at(bytes: number): number {
    while (this.#endBytes < bytes) this.#endBytes += this.#pieces[++this.#index]?.bytes.length ?? bytes;
    return this.#pieces[this.#index]?.afterMs ?? 0;
  }
}
