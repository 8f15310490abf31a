/**
 * What each API says on the wire, one `Wire` an API and operation. Pure: bytes and values in, bytes and values out; no
 * socket, no clock, no configuration. A wire is registered by the routes that name it, and those by their `Api`.
 */
import type { Operation } from '../contract/capability.ts';
import type { StreamFormat } from './stream-format.ts';

export interface Wire {
  /** Such as `openai-chat`. */
  readonly name: string;
  /** What a caller wants of it. */
  readonly operation: Operation;
  readonly request: RequestFormat;
  /** Of answers that come as a whole. */
  readonly whole: WholeFormat;
  /** Of answers that come as a stream; null where the API has none. */
  readonly stream: StreamFormat | null;
}

/** A request's body, as far as its top-level fields are concerned. */
export interface RequestView {
  /** Undefined if it is not there, cannot be read, or is too long to be parsed at once. */
  field(name: string): unknown;
  /** The same as it was sent, however long; null where it is not there, or `null`, and of a form. */
  raw(name: string): RawField | null;
}

/** A value of a JSON body in its own bytes. */
export interface RawField {
  bytes: Buffer;
  /** Of a list, how many there are in it. */
  items: number;
}

export interface RequestFormat {
  /** How many answers, or pictures, are asked for: at least one. */
  answersAsked(body: RequestView): number;
  /** How many answers may have to be paid for: of more than are sent the best may be chosen. */
  answersPaid(body: RequestView): number;
  /** The answer is to be plain text rather than JSON. */
  isTextAsked(body: RequestView): boolean;
  /** The answer is one text and nothing else, so that another upstream could go on with it. */
  isOneText(body: RequestView): boolean;
  /** The target can be asked to go on from the beginning of an answer, where its service takes one. */
  readonly takesBeginning: boolean;
}

export interface WholeFormat {
  readonly kind: 'json' | 'media';
  /** Members of which at least one stands in the first megabyte of every answer. */
  readonly marks: readonly string[];
  /** No answer is ever longer than what is held of it: what goes on has no end. Else it passes as it comes. */
  readonly isNeverLonger: boolean;
  /** Bytes that are held, until the end has come. */
  readonly maxHeldBytes: number;
  /** Mostly numbers, which take long to be gone through. */
  readonly isNumbers: boolean;
}
