/**
 * An API's format on the wire: one `Wire` for each API and operation. Pure: bytes and values in, bytes and values out;
 * no socket, clock or configuration. Routes name their wire, and each `Api` lists its routes.
 */
import type { ErrorBody } from '../../contract/errors.ts';
import type { AskedTerms, PriceTerms, Usage, UsageCertainty } from '../../contract/ledger.ts';
import type { Operation } from '../../contract/operations.ts';
import type { BodyOutline, Fitting } from './chat-flavour.ts';
import type { Recording } from './recordings/recording-length.ts';
import type { SizeOf } from './referred-input.ts';
import { readEvent } from './sse-framing.ts';
import type { StreamEvent, StreamFormat } from './stream-format.ts';
import type { UpstreamError } from './upstream-error.ts';

/** @template Name the fields of a request's body that it reads */
export interface Wire<Name extends string = string> {
  /** Such as `openai-chat`. */
  readonly name: string;
  /** The operation that it performs. */
  readonly operation: Operation;
  readonly request: RequestFormat<Name>;
  /** For answers that arrive as a whole. */
  readonly whole: WholeFormat;
  /** The member that names its errors; what they mean is the same for all wires (`errors/verdict.ts`). */
  readonly errorName: NamingMember;
  readonly usage: UsageFormat<Name>;
  /** For streamed answers; null if the API has none. */
  readonly stream: StreamFormat | null;
  /** For streams that another target can continue; null if none can. */
  readonly rescue: RescueFormat | null;
}

/**
 * The top-level fields of a request body. Only those that a wire declares are collected, so each reader names its own: the
 * compiler then refuses a name that no wire of its declares. Properties instead of methods, whose parameters are compared
 * in both directions.
 */
export interface RequestView<Name extends string> {
  /** Undefined if the field is missing, malformed, or too long to parse. */
  readonly field: (name: Name) => unknown;
  /** The field as it was sent, of any length; null if it is missing or `null`, and for forms. */
  readonly raw: (name: Name) => RawField | null;
}

/** Longer texts of a JSON body take too long to decode at once; only their size in bytes is used. */
export const maxTextBytes = 1024 * 1024;

/** The original bytes of a value in a JSON body. */
export interface RawField {
  bytes: Buffer;
  /** Number of elements, if it is a list. */
  items: number;
}

/** A conversation that the provider stores. */
export interface MessageThread {
  /** The provider's id of the message that the request continues; null for the first one. */
  previousMessageId: string | null;
}

/** What a request asks for, as far as routing, limits, sessions and cost depend on it. */
export interface RequestFormat<Name extends string> {
  /** All top-level fields that the wire reads from a JSON body, which the reader of bodies collects in a single pass. */
  readonly fields: readonly Name[];
  /** The number of answers or images requested: at least one. */
  readonly answersAsked: (body: RequestView<Name>) => number;
  /** The number of answers that may be billed, which `best_of` makes larger than what is sent. */
  readonly answersPaid: (body: RequestView<Name>) => number;
  /** The answer is plain text rather than JSON. */
  readonly isTextAsked: (body: RequestView<Name>) => boolean;
  /** The answer is a single text and nothing else, so that another upstream could continue it. */
  readonly isOneText: (body: RequestView<Name>) => boolean;
  /** The work continues after the response to this request, and the result is fetched later. */
  readonly isBackground: (body: RequestView<Name>) => boolean;
  /** Whether the client itself asked for usage at the end of its stream. */
  readonly wantsUsage: (body: RequestView<Name>) => boolean;
  /** A value that is the same for all turns of a conversation; null for a request outside any conversation. */
  readonly conversationOf: (body: RequestView<Name>) => string | null;
  /** The client's own name for its session, if its API has a field for it; undefined for a request that names none. */
  readonly sessionOf?: (body: RequestView<Name>) => string | undefined;
  /** The stored thread of messages that the request belongs to, if its API has such; null for a request outside any thread. */
  readonly threadOf?: (body: RequestView<Name>) => MessageThread | null;
  /** The provider is asked to store the answer, which it does not do by itself. */
  readonly asksToStore?: (body: RequestView<Name>) => boolean;
  /** The body is that of another wire of the same API. */
  readonly isMisplaced?: (body: RequestView<Name>) => boolean;
  /** The temperature at which the model is to answer, in a parsed request; undefined if the request leaves it open. */
  readonly temperatureOf: (request: Record<string, unknown>) => unknown;
  /** A target can be asked to continue the beginning of an answer, if its service supports that. */
  readonly supportsPrefill: boolean;
  /** The API's own parser takes commas before closing brackets. */
  readonly takesTrailingCommas?: true;
  /** How bodies are fitted to services that refuse some of the API; absent: none is known. */
  readonly fitting?: Fitting;
}

export interface WholeFormat {
  readonly kind: 'json' | 'media';
  /** Each answer has at least one of these, in its first megabyte. */
  readonly members: readonly string[];
  /** Answers never exceed `maxHeldBytes`, so a longer one is endless. If false, a longer answer passes as it arrives. */
  readonly isNeverLonger: boolean;
  /** How much of an answer is held until it is complete. */
  readonly maxHeldBytes: number;
  /** The answer consists mainly of numbers, which are slow to scan. */
  readonly isNumbers: boolean;
  /** Judges a complete JSON object with at least one member. */
  judge(answer: Record<string, unknown>): Verdict;
}

/** The member of an API's errors that names them: OpenAI's `code`, Anthropic's and Bedrock's `type`, Google's `status`. */
export type NamingMember = 'code' | 'type' | 'status';

/** The judgement of a whole response. */
export type Verdict =
  /** `document`: the answer as an object, if it was read as such. */
  | { kind: 'answer'; document?: Record<string, unknown> }
  /** `what` completes the sentence "Provider … ". */
  | { kind: 'damaged'; what: string }
  /** An error in place of an answer, with the status that it should have had. */
  | { kind: 'error'; status: number; error: UpstreamError | null }
  /** An answer that reports a failure of the service; another service may succeed. */
  | { kind: 'failed-answer'; error: UpstreamError };

/** A request body and its size. */
export interface MeasuredRequest<Name extends string> extends RequestView<Name> {
  /** In bytes. */
  readonly size: number;
  /** The whole body; null for a form. */
  readonly captured: Buffer | null;
  /** Where its members are; absent for bodies that are not JSON. */
  readonly outline?: BodyOutline;
  /** How long the recording in a form is; absent or null if there is none, or it does not tell. */
  readonly recording?: Recording | null;
}

/** Known limits of the model; null if unknown. */
export interface ModelBounds {
  /** The most tokens of one answer. */
  outputTokens: number | null;
  /** Prompt and answer together. */
  contextTokens: number | null;
}

/** The kept part of an answer, decompressed. */
export interface KeptAnswer {
  /** Its end; the whole answer if it is short. */
  tail: Buffer;
  /** Its beginning; empty if `tail` is the whole answer. */
  head: Buffer;
  /** The beginning of the line in which `tail` begins; empty if `tail` begins with a line. */
  line?: Buffer | undefined;
  /** All of it, if it was held until its end. */
  whole?: Buffer | undefined;
  /** The same as an object, if it was read as such. */
  document?: Record<string, unknown> | undefined;
  /** Length of the whole answer. */
  bytes: number;
  contentType: string;
}

/** An answer that was held until its end. */
export interface WholeAnswer {
  /** Decompressed. */
  plain: Buffer;
  /** The same as an object, if it was read as such. */
  document: Record<string, unknown> | undefined;
}

/** What the request reveals about its usage, for answers that report none. */
export interface UsageHints {
  /** Reported usage above this is wrong. */
  most?: MostUsage | undefined;
  /** Length of the text to be spoken. */
  inputCharacters?: number;
  /** Length of the requested video, or of the recording that is sent. */
  seconds?: number;
  /** Number of requested images. */
  images?: number;
}

/** The most that a request and its response can amount to. */
export interface MostUsage {
  inputTokens: number;
  outputTokens: number;
  seconds: number;
}

export interface ExtractedUsage {
  usage: Usage | null;
  /**
   * `reported`: by the upstream. `estimated`: from the request, or what remained of an implausible report. `partial`:
   * part of the usage.
   */
  certainty: UsageCertainty;
  /** The `status` of a response object; null if the answer has none. */
  status: string | null;
}

/** Predicts and reads usage. */
export interface UsageFormat<Name extends string = string> {
  /** A rough prediction: reserved against per-minute limits and soft budgets while the request runs. */
  readonly likely: (body: MeasuredRequest<Name>) => Usage;
  /**
   * The most that the request can use, as far as it is bounded. Reserved against hard budgets while it runs, so that
   * parallel requests can exceed a budget by at most the cost of one of them.
   */
  readonly worst: (body: MeasuredRequest<Name>, model: ModelBounds, sizeOf?: SizeOf) => Usage;
  readonly hints: (body: MeasuredRequest<Name>, answerBytes: number) => UsageHints;
  /** Called once for the answer that created something, and not when a job is fetched again. */
  read(answer: KeptAnswer, hints: UsageHints): ExtractedUsage;
  /** The terms that a request allows, by which it is reserved; absent: always the usual ones. */
  readonly asks?: (body: MeasuredRequest<Name>) => AskedTerms;
  /** What the price depends on beside the usage, as the answer tells it; null for the usual terms. */
  terms?(answer: KeptAnswer): PriceTerms | null;
  /** Where calls and their answers have what spans tell of them; absent: nowhere. */
  readonly facts?: FactPlaces;
  /** Estimates for text in both directions; null for anything else. */
  readonly text: TextEstimates | null;
}

/** Names from the top level down; `*` is each element of a list. */
type Place = readonly string[];

/** Where an answer, or an event of a stream, has these. Of several places, the first one where there is something counts. */
interface AnswerPlaces {
  id: readonly Place[];
  model: readonly Place[];
  finishReason: readonly Place[];
}

/** Where an API has the facts of a call. */
export interface FactPlaces {
  temperature: readonly Place[];
  maxTokens: readonly Place[];
  whole: AnswerPlaces;
  /** Of streams. */
  event: AnswerPlaces;
}

export interface TextEstimates {
  /** Prompt tokens of a JSON request body; null if it cannot be parsed or has no prompt. */
  ofPrompt(json: Buffer): number | null;
  /** Null if the answer cannot be parsed, or its work has only begun. */
  ofAnswer(answer: KeptAnswer): number | null;
  /** The answer is vectors rather than tokens. */
  readonly isOnlyPrompt: boolean;
}

/** Message format of a WebSocket session, as far as limits and usage depend on it. */
export type ServerEvent =
  | { kind: 'response-created'; id: string }
  | { kind: 'response-done'; id: string; hasFailed: boolean; errorCode: string | null; used: Usage | null }
  | { kind: 'transcribed'; used: Usage | null }
  /** `transcribesWith`: the model that transcribes the user's speech; null if there is none. */
  | { kind: 'session'; transcribesWith: string | null };

export interface SessionFormat {
  /** The subprotocol to confirm to a client that offers it. */
  readonly protocol: string;
  /** Query parameters that name the model; the upstream is sent the first of these. */
  readonly modelParameters: readonly string[];
  /** Query parameter that names an existing call, which only one provider has. */
  readonly callParameter: string;
  /** Null for events that Sluice does not need, and for anything that is not an event. */
  readServerEvent(message: Buffer): ServerEvent | null;
  /** About how many tokens of an answer the message has; 0 for what is no part of one. */
  answeredTokens(message: Buffer): number;
  /** About how many tokens a client's message adds to the conversation. */
  addedTokens(message: Buffer): number;
  /** Returns the id of an event that requests a response (empty if it has none); null for all other messages. */
  readResponseCreate(message: Buffer): { eventId: string } | null;
  /** Renders an error event. `eventId`: its own id; `causedBy`: id of the client's event that caused it, or null. */
  writeErrorEvent(error: ErrorBody, eventId: string, causedBy: string | null): string;
}

/** Header fields of an HTTP message, by lowercase name. */
export type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

// What a wire has to provide so that another target can continue a broken stream of text. Pure.

/** What a client has of a broken stream. */
export interface PartialText {
  text: string;
  /** Only the end of the stream is missing. */
  isFinished: boolean;
  /** The client's id of the answer, if it can be fetched later. */
  storedId?: string;
}

/** Collects what a client has of a text stream. */
export interface StreamText {
  /** Adds an event that the client gets; null for one that was too large to be held. Returns the text that it adds. */
  take(event: StreamEvent | null): string;
  /** Adds the text of an event that matched a shape: the bytes between its quotes, still escaped. */
  append(bytes: Buffer, start: number, end: number): void;
  /** Called with the sequence number of such an event. */
  counted(sequenceNumber: number): void;
  /** Null if the stream cannot be continued. */
  read(): PartialText | null;
  /** The final bytes of a stream whose text is finished; null if more than these is missing. */
  readonly lastEvent: Buffer | null;
  /** The event that reports the error to the client. */
  errorEvent(error: ErrorBody): string;
}

/** Rewrites the events of a second stream as a continuation of the first one, based on what the client has. */
export interface Splice {
  /** The upstream's id of the answer, if it can be fetched later. */
  readonly upstreamId: string | null;
  /** The text contradicts what the client has. */
  readonly isDifferent: boolean;
  /** The answer is complete. */
  readonly isFinished: boolean;
  /** `data` of a valid event that is not an error. Returns what to send, or null for nothing. */
  take(data: string): Buffer | null;
}

export interface SpliceOptions {
  /** The upstream was asked to continue the client's text rather than for the whole answer. */
  isContinuation: boolean;
  /** Only Sluice asked for usage. */
  stripUsage: boolean;
}

/** What a service requires of a request whose last message is the beginning of the answer. */
export interface Prefix {
  /** Additional members of that message. */
  message: Record<string, unknown>;
  /** Additional members of the request. */
  request: Record<string, unknown>;
}

/** Declared as methods, so that a wire may use a subtype of `PartialText`. */
export interface RescueFormat<SoFar extends PartialText = PartialText> {
  openText(): StreamText;
  openSplice(soFar: SoFar, options: SpliceOptions): Splice;
  /** A request for the rest of an answer that begins with `text`; null if there can be none. */
  continuedBody(body: Buffer, text: string, prefix: Prefix): Promise<Buffer | null>;
}

/** Adds whole server-sent events written by Sluice itself. */
export function takeEvents(text: StreamText, bytes: Buffer): void {
  for (const event of bytes.toString('utf8').split('\n\n')) text.take(readEvent(event));
}

/** Compares a text that arrives in pieces with the beginning that a client already has; each character once. Pure. */
export class TextMatch {
  readonly #expected: string;
  readonly #allowsSuffix: boolean;
  /** How many characters have matched. */
  #matched = 0;
  /** The text goes beyond the expected one, or ended equal to it. */
  isBeyond = false;
  /** The text contradicts the expected one. */
  isDifferent = false;

  /** `allowsSuffix`: a text that differs is the requested continuation. */
  constructor(expected: string, allowsSuffix: boolean) {
    this.#expected = expected;
    this.#allowsSuffix = allowsSuffix;
  }

  /** The part of the next piece that the client lacks; null while it lacks nothing. `isLast`: no more text follows. */
  take(text: string, isLast: boolean): string | null {
    if (this.isBeyond) return text;
    const remaining = this.#expected.length - this.#matched;
    const isSame = this.#expected.startsWith(text.slice(0, remaining), this.#matched);
    if (isSame && text.length >= remaining) {
      this.#matched = this.#expected.length;
      const more = text.slice(remaining);
      this.isBeyond = more !== '' || isLast;
      return this.isBeyond ? more : null;
    }
    if (isSame && !isLast) {
      this.#matched += text.length;
      return null;
    }
    // Some models repeat the given beginning before they continue it; most do not.
    this.isBeyond = this.#allowsSuffix;
    this.isDifferent = !this.isBeyond;
    return this.isBeyond ? this.#expected.slice(0, this.#matched) + text : null;
  }
}
