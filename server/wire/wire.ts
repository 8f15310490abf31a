/**
 * What each API says on the wire, one `Wire` an API and operation. Pure: bytes and values in, bytes and values out; no
 * socket, no clock, no configuration. A wire is registered by the routes that name it, and those by their `Api`.
 */
import type { Operation } from '../contract/capability.ts';
import type { Usage, UsageCertainty } from '../contract/ledger.ts';
import type { Failure } from './failure.ts';
import type { HeaderFields } from './headers.ts';
import type { MostUsage } from './plausible-usage.ts';
import type { StreamFormat } from './stream-format.ts';
import type { RescueFormat } from './stream-text.ts';
import type { UpstreamError } from './upstream-error.ts';

export interface Wire {
  /** Such as `openai-chat`. */
  readonly name: string;
  /** What a caller wants of it. */
  readonly operation: Operation;
  readonly request: RequestFormat;
  /** Of answers that come as a whole. */
  readonly whole: WholeFormat;
  readonly errors: ErrorFormat;
  readonly usage: UsageFormat;
  /** Of answers that come as a stream; null where the API has none. */
  readonly stream: StreamFormat | null;
  /** Of streams that another target can go on with; null where none are. */
  readonly rescue: RescueFormat | null;
}

/** A request's body, as far as its top-level fields are concerned. */
export interface RequestView {
  /** Undefined if it is not there, cannot be read, or is too long to be parsed at once. */
  field(name: string): unknown;
  /** The same as it was sent, however long; null where it is not there, or `null`, and of a form. */
  raw(name: string): RawField | null;
}

/** A text of a JSON body that is longer takes too long to be decoded at once, and is known by its bytes alone. */
export const maxTextBytes = 1024 * 1024;

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
  /** The work goes on when the response to it has ended, and its answer is asked for later. */
  isBackground(body: RequestView): boolean;
  /** A server may take the request for one for a stream. */
  mayMeanStream(body: RequestView): boolean;
  /** The client itself asked for the usage at the end of its stream. */
  wantsUsage(body: RequestView): boolean;
  /** What stays the same from turn to turn of a conversation; null for a request that is no part of one. */
  conversationOf(body: RequestView): string | null;
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
  /** Whether an object in JSON, complete and with a member at least, is an answer. */
  judge(answer: Record<string, unknown>): Verdict;
}

/** What a whole answer is. */
export type Verdict =
  /** `document`: the whole of it, where it was parsed. */
  | { kind: 'answer'; document?: Record<string, unknown> }
  /** `what` follows "Provider … ". */
  | { kind: 'damaged'; what: string }
  /** An error in place of an answer; the status that it should have had. */
  | { kind: 'error'; status: number; error: UpstreamError | null }
  /** An answer that tells of a failure of the service, which another service may do better. */
  | { kind: 'failed-answer'; error: UpstreamError };

export interface FailedAnswer {
  /** From 400 on. */
  status: number;
  headers: HeaderFields;
  /** Null where it says none that is known. */
  error: UpstreamError | null;
  /** The request names a job, so that 404 and 409 are about that job. */
  isAboutJob: boolean;
}

export interface ErrorFormat {
  classify(answer: FailedAnswer): Failure;
  /** The status that an error in a 200, or in a stream's event, should have had. */
  statusOf(error: UpstreamError): number;
  /** The code of an error says that the request itself is at fault. */
  isRequestsOwn(code: string): boolean;
  /** The code of the error that the end of a stream tells of; null where it names none. */
  codeIn(end: string): string | null;
}

/** A request's body, and how long it is. */
export interface MeasuredRequest extends RequestView {
  /** In bytes. */
  readonly size: number;
  /** The whole of it; null for a form. */
  readonly captured: Buffer | null;
}

/** What is known of the model that may answer; null where it is not. */
export interface ModelBounds {
  /** The most tokens of one answer. */
  outputTokens: number | null;
  /** Of prompt and answer together. */
  contextTokens: number | null;
}

/** What is kept of an answer, decoded of any compression. */
export interface KeptAnswer {
  /** Its end; all of a short one. */
  tail: Buffer;
  /** Its beginning; empty where `tail` is all of it. */
  head: Buffer;
  /** Length of all of it. */
  bytes: number;
  contentType: string;
  /** The whole of it, where it was parsed already. */
  document?: Record<string, unknown> | undefined;
}

/** What only the request says of what its answer uses, for answers that tell no usage. */
export interface UsageHints {
  /** What is more than this was not used, whatever the answer says. */
  most?: MostUsage | undefined;
  /** Length of the text that is to be spoken. */
  inputCharacters?: number;
  /** Length of the video that is asked for. */
  seconds?: number;
  /** Pictures that are asked for. */
  images?: number;
}

export interface ExtractedUsage {
  usage: Usage | null;
  /**
   * `reported` is what the upstream said, `estimated` what the request lets one expect or what was left of a report that
   * cannot be true, `partial` a part of what was used.
   */
  certainty: UsageCertainty;
  /** The `status` of a response object; null where the answer tells none. */
  status: string | null;
}

/** What a request uses, and what an answer has used. */
export interface UsageFormat {
  /** Before it is sent, and rough: held against limits by the minute and soft budgets while it runs. */
  likely(body: MeasuredRequest): Usage;
  /**
   * The most that it can be, as far as that has a bound: held against hard budgets while it runs, so that no number of
   * requests at once passes such a budget by more than one of them costs.
   */
  worst(body: MeasuredRequest, model: ModelBounds): Usage;
  hints(body: MeasuredRequest, answerBytes: number): UsageHints;
  /** To be asked once of the answer to a request that makes something, and not when a job is looked at again. */
  read(answer: KeptAnswer, hints: UsageHints): ExtractedUsage;
  /** Estimates, where text goes both ways; else null. */
  readonly text: TextEstimates | null;
}

export interface TextEstimates {
  /** Tokens of the prompt in a request's body, which is JSON; null if it cannot be read or has none. */
  ofPrompt(json: Buffer): number | null;
  /** Null where it cannot be read, or the work has only been begun. */
  ofAnswer(answer: KeptAnswer): number | null;
  /** The answer is vectors rather than tokens. */
  readonly isOnlyPrompt: boolean;
}
