/** What has to be known of one wire to go on, from another target, with a stream of text that broke. Pure. */
import type { ErrorBody } from '../contract/errors.ts';
import { readEvent, type StreamEvent } from './sse-event.ts';

/** What a client has of such a stream. */
export interface TextSoFar {
  text: string;
  /** Nothing is missing but the end. */
  isFinished: boolean;
  /** What the client calls the answer, where it can be asked for later. */
  storedId?: string;
}

/** Keeps what a client has of a stream of text. */
export interface StreamText {
  /** An event that the client gets; null for one that was too large to be held. Returns what it adds to the text. */
  take(event: StreamEvent | null): string;
  /** Of an event that is like one before it in all but its text: that, as it stands between two quotes. */
  append(bytes: Buffer, start: number, end: number): void;
  /** The number of such an event. */
  counted(sequenceNumber: number): void;
  /** Null where it cannot be gone on with. */
  read(): TextSoFar | null;
  /** What ends a stream whose text is finished; null where more has to come than that. */
  readonly lastEvent: Buffer | null;
  /** What tells the client that there is no more. */
  errorEvent(error: ErrorBody): string;
}

/** Turns the events of the second stream into what the first would have gone on with. Knows what the client has. */
export interface Splice {
  /** What the upstream calls this answer, where it can be asked for later. */
  readonly upstreamId: string | null;
  /** It says something else than what the client has. */
  readonly isDifferent: boolean;
  /** The answer is whole. */
  readonly isFinished: boolean;
  /** The data of an event that is sound and no error; null where nothing of it is to be sent. */
  take(data: string): Buffer | null;
}

export interface SpliceOptions {
  /** The upstream was asked to go on from the client's text, rather than for the whole. */
  isContinuation: boolean;
  /** Usage was asked for by Sluice alone. */
  stripUsage: boolean;
}

/** What a service wants of a request that ends with the beginning of its answer. */
export interface BegunMessage {
  /** Members of that message. */
  message: Record<string, unknown>;
  /** Members of the request. */
  request: Record<string, unknown>;
}

/** Methods rather than members, so that a wire may have a text so far of its own. */
export interface RescueFormat<SoFar extends TextSoFar = TextSoFar> {
  openText(): StreamText;
  openSplice(soFar: SoFar, options: SpliceOptions): Splice;
  /** A request for the rest of an answer that begins with `text`; null where it cannot be made. */
  continuedBody(body: Buffer, text: string, begun: BegunMessage): Promise<Buffer | null>;
}

/** Whole server-sent events, as Sluice itself writes them. */
export function takeAll(text: StreamText, bytes: Buffer): void {
  for (const event of bytes.toString('utf8').split('\n\n')) text.take(readEvent(event));
}
