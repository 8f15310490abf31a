import type { GatewayError } from '../../contract/errors.ts';
import type { UpstreamAnswer } from '../../routing/attempt-result.ts';
import type { Failure } from '../../routing/classify-failure.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import type { TransportError } from '../../transport/transport-error.ts';
import type { InferenceRoute } from '../../wire/routes.ts';

/** Reads the body of one upstream's reply, and decides when it is the client's. Exactly one of `end` and `fail` comes last. */
export interface ReplyBody {
  take(chunk: Buffer): void;
  end(): void;
  fail(error: TransportError): void;
  /** The client has all there was to have, although the upstream has not ended yet. */
  isComplete(): boolean;
  /** It is complete as far as can be seen, but more may follow. Absent: what is complete never goes on. */
  mayGoOn?(): boolean;
  /** The attempt is over, whoever ended it. */
  dispose?(): void;
}

/** The attempt that a body belongs to, as its reader sees it. */
export interface ReplyHost {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly route: InferenceRoute;
  /** Of the client's request. */
  readonly method: string;
  readonly isStreamAsked: boolean;
  /** A transcript was asked for as text or subtitles. */
  readonly isTextAsked: boolean;
  readonly isOver: boolean;
  /** Some of it is with the client, so that no other attempt can be the answer. */
  readonly hasBegun: boolean;
  /** Makes this attempt the answer, and sends its head. False if that cannot be any more: then the attempt is over. */
  begin(): boolean;
  /** So many bytes more are kept of it. False: of all that is kept at the same time it is too much. */
  hold(bytes: number): boolean;
  /** Nothing that came is content yet: it has to follow within `firstContentMs`. */
  awaitContent(): void;
  /** It is here. */
  contentCame(): void;
  /** More of use came. Once told, more has to follow, within `firstContentMs` or `idleMs`, whichever is longer. */
  progressed(): void;
  /** Of a whole reply: the client asked for a stream, and gets the same as one. False where there is no need or no way. */
  passAsStream(whole: Buffer): boolean;
  /** It is a stream of events under another name, of which this is the beginning. */
  readAsStream(beginning: Buffer): void;
  /** It is JSON under another name, in which SDKs would see a mere text. */
  callJson(): void;
  /** Only after `begin`. */
  write(bytes: Buffer): void;
  /** The client has the whole answer with these bytes. Only after `begin`. */
  complete(last?: Buffer): void;
  /** The same, but the upstream has told it of an error at the end. */
  completeWithError(): void;
  /** The client gets nothing of it, unless nobody does better: then this answer. */
  refuse(failure: Failure, answer: UpstreamAnswer): void;
  /** The client gets nothing of it. `what` follows "Provider … ", for a person. */
  damaged(what: string, failure?: Failure): void;
  failTransport(error: TransportError): void;
  /** The client has its beginning and is told that there is no more: by this event, or by a connection that breaks (null). */
  breakOff(error: GatewayError, event: string | null): void;
}

/** The same for a reply whose rest another attempt can bring: a stream, or a file. */
export interface AttemptHost extends ReplyHost {
  droppedEvent(): void;
  /** The client has the beginning; what is left may be had from another target. Else it is told of this error. */
  giveOver(error: GatewayError): void;
  /** It says something else than what the client has of another stream. */
  diverged(): void;
  /** Half an event is with the client, or no longer. */
  insideEvent(isInside: boolean): void;
}
