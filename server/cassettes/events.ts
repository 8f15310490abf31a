/** Server-sent events in the form in which a cassette stores them. */

import { LineEnds } from '../apis/core/streams/sse-lines.ts';
import type { StoredPiece } from '../exchange/answer/stored-answer.ts';
import type { RecordedEvent } from './format.ts';
import { parseShallowJson } from './parse-shallow-json.ts';
import { redactAcross } from './redact-across.ts';
import type { Redactor } from './redactor.ts';

/** The event's text, including the empty line that ends it. */
interface TimedText {
  afterMs: number;
  text: string;
}

/** An event whose data is JSON. */
interface JsonEvent {
  afterMs: number;
  event?: string;
  data: unknown;
}

const jsonEvent = /^(?:event: ([^\n]*)\n)?data: ([^\n]*)\n\n$/;

/** Null if the stream is not UTF-8. */
export function packEvents(pieces: readonly StoredPiece[], redactor: Redactor): RecordedEvent[] | null {
  const timedTexts = splitEvents(pieces);
  if (timedTexts === null) return null;
  const events = timedTexts.map((each) => packEvent(each, redactor));
  // Models split a text into many events, so a secret may be spread over several of them.
  redactAcross(events.filter(isJson), redactor);
  return events;
}

export function unpackEvent(event: RecordedEvent): Buffer {
  if ('text' in event) return Buffer.from(event.text);
  const head = event.event === undefined ? '' : `event: ${event.event}\n`;
  return Buffer.from(`${head}data: ${JSON.stringify(event.data)}\n\n`);
}

function isJson(event: RecordedEvent): event is JsonEvent {
  return !('text' in event);
}

function packEvent({ afterMs, text }: TimedText, redactor: Redactor): RecordedEvent {
  const [, event, json = ''] = jsonEvent.exec(text) ?? [];
  const data = parseShallowJson(json);
  if (data === undefined) return { afterMs, text: redactor.text(text) };
  const redacted = redactor.json(data);
  const name = event === undefined ? {} : { event: redactor.text(event) };
  if (redacted !== data || JSON.stringify(data) === json) return { afterMs, ...name, data: redacted };
  return { afterMs, text: redactor.text(text) };
}

/** The time of an event is that of its last piece. */
function splitEvents(pieces: readonly StoredPiece[]): TimedText[] | null {
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
  const text = bytes.toString();
  if (!Buffer.from(text).equals(bytes)) return null;
  const events: TimedText[] = [];
  const clock = new PieceClock(pieces);
  const lineEnds = new LineEnds(bytes);
  for (let from = 0, end = 0; from < bytes.length; from = end) {
    const found = lineEnds.endOfEvent(from, true);
    end = found === -1 ? bytes.length : found;
    events.push({ afterMs: clock.at(end), text: bytes.toString('utf8', from, end) });
  }
  return events;
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
