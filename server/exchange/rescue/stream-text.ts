import type { ErrorBody } from '../../contract/errors.ts';
import { chatStream } from '../../wire/openai/chat-stream.ts';
import { responseStream } from '../../wire/openai/typed-stream.ts';
import type { Route } from '../../wire/route.ts';
import { readEvent, type StreamEvent } from '../../wire/sse-event.ts';
import { type ChatSoFar, ChatText } from './chat-text.ts';
import { type ResponseSoFar, ResponseText } from './response-text.ts';

/** Where a stream is to be gone on with, its events are held up to this: those of a response repeat its instructions and tools. */
export const maxEventBytes = 512 * 1024;

/** Keeps what a client has of a stream of text, so that another target can go on with it. */
export interface StreamText {
  /** An event that the client gets; null for one that was too large to be held. Returns what it adds to the text. */
  take(event: StreamEvent | null): string;
  /** Of an event that is like one before it in all but its text: that, as it stands between two quotes. */
  append(bytes: Buffer, start: number, end: number): void;
  /** The number of such an event. */
  counted(sequenceNumber: number): void;
  /** Null where it cannot be gone on with. */
  read(): ChatSoFar | ResponseSoFar | null;
  /** What tells the client that there is no more. */
  errorEvent(error: ErrorBody): string;
}

/** Null for streams that no other target can go on with. */
export function streamTextOf({ stream }: Route): StreamText | null {
  if (stream === responseStream) return new ResponseText();
  return stream === chatStream ? new ChatText() : null;
}

/** Whole events, as Sluice itself writes them. */
export function takeAll(text: StreamText, bytes: Buffer): void {
  for (const event of bytes.toString('utf8').split('\n\n')) text.take(readEvent(event));
}
