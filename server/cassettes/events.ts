/** Server-sent events in the form in which a cassette stores them. */
import type { StoredPiece } from '../exchange/stored-answer.ts';
import type { RecordedEvent } from './format.ts';
import { parseJson } from './parse-json.ts';
import { redactAcross } from './redact-across.ts';
import type { Redactor } from './redactor.ts';

/** The event's text, including the empty line that ends it. */
interface TimedText {
  afterMs: number;
  text: string;
}

/** An event whose data is JSON. */
export interface JsonEvent {
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
  const data = parseJson(json);
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
  let from = 0;
  let sentBytes = 0;
  for (let end = endOfEvent(text, 0); from < text.length; end = endOfEvent(text, end)) {
    const event = text.slice(from, end);
    sentBytes += Buffer.byteLength(event);
    events.push({ afterMs: clock.at(sentBytes), text: event });
    from = end;
  }
  return events;
}

/** Position after the next empty line; the end of the text if there is none. */
function endOfEvent(text: string, from: number): number {
  const unixEnd = text.indexOf('\n\n', from);
  const windowsEnd = text.indexOf('\r\n\r\n', from);
  if (unixEnd === -1 && windowsEnd === -1) return text.length;
  return windowsEnd === -1 || (unixEnd !== -1 && unixEnd < windowsEnd) ? unixEnd + 2 : windowsEnd + 4;
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
