/**
 * The wire of `:generateContent` and `:streamGenerateContent`: whole answers and streams, each event of which is a
 * complete response object with the next parts.
 */

import type { ErrorBody } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { statusOfError } from '../core/errors/error-names.ts';
import { linesOf, sseFraming } from '../core/sse-framing.ts';
import {
  type EventFilter,
  type EventGate,
  type EventMeaning,
  type Framing,
  type GateOptions,
  HeldEvent,
  type Repacking,
  type StreamClose,
  type StreamEnd,
  type StreamEvent,
  type StreamFormat,
  type StreamWatch,
} from '../core/stream-format.ts';
import { errorIn } from '../core/upstream-error.ts';
import type { Verdict, WholeFormat, Wire } from '../core/wire.ts';
import { type GeminiField, geminiRequest } from './request.ts';
import { geminiUsage } from './usage.ts';
import { writeGeminiError } from './write-error.ts';

const jsonType = boundedPattern(/^application\/json\b/i);
const opening = boundedPattern(/^(?:\xef\xbb\xbf)?\s{0,60}\[/);

/** Framing of a stream that is one JSON array. An event is an element and the bytes before it. */
export const jsonArrayFraming: Framing = {
  contentType: 'application/json; charset=UTF-8',
  isStream: (contentType) => jsonType.test(contentType),
  openGate: (write, options) => new JsonArrayGate(write, options),
  readEvent,
  readPartialEvent: () => ({ name: '', data: '', value: undefined }),
  isKeepAlive: (event) => event.every(isBlank),
  mayBeContent: () => true,
  kindOfRest: (rest) => (rest.every((byte) => isBlank(byte) || byte === closeBracket) ? 'nothing' : 'piece'),
  beginsLikeAnEvent: (bytes) => opening.test(bytes.toString('latin1', 0, 64)),
  /** Whitespace is allowed between two elements. */
  keepAlive: Buffer.from('\n'),
};

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const isBlank = (byte: number) => byte <= 0x20;

/** Parses the element without the bracket or comma before it. */
function readEvent(event: Buffer): StreamEvent | null {
  let start = 0;
  while (start < event.length && event[start] !== openBrace) {
    const byte = event[start] ?? 0;
    if (!isBlank(byte) && byte !== openBracket && byte !== comma) return null;
    start++;
  }
  const data = event.toString('utf8', start);
  try {
    const value: unknown = JSON.parse(data);
    return { name: '', data, value };
  } catch {
    return null;
  }
}

class JsonArrayGate implements EventGate {
  readonly #write: (bytes: Buffer) => void;
  readonly #filter: EventFilter;
  readonly #held: HeldEvent;
  /** Counts only braces, because brackets within an element are closed before it ends. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  constructor(write: (bytes: Buffer) => void, options: GateOptions) {
    this.#write = write;
    this.#filter = options.filter;
    this.#held = new HeldEvent(write, options);
  }

  get insideEvent(): boolean {
    return this.#held.isLarge;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      if (!this.#endsElement(chunk[at] ?? 0)) continue;
      this.#end(chunk.subarray(from, at + 1));
      from = at + 1;
    }
    if (from < chunk.length) this.#held.add(chunk.subarray(from));
  }

  takeRest(): Buffer {
    return this.#held.take(Buffer.alloc(0));
  }

  #endsElement(byte: number): boolean {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === backslash) this.#isEscaped = true;
      else if (byte === quote) this.#isInString = false;
      return false;
    }
    if (byte === quote) this.#isInString = true;
    else if (byte === openBrace) this.#depth++;
    else if (byte === closeBrace && this.#depth > 0) return --this.#depth === 0;
    return false;
  }

  #end(last: Buffer): void {
    if (this.#held.isLarge) {
      this.#held.endLarge(last);
      this.#write(last);
      return;
    }
    const filtered = this.#filter(this.#held.take(last), true);
    if (filtered) this.#write(filtered);
  }
}

/**
 * Stream formats of `:streamGenerateContent`: each event is a complete response object with the next parts.
 *
 * With `?alt=sse`. Comments are sent as separate events: `@google/genai` misses an event to which one is attached.
 */
export const generateStream: StreamFormat = {
  framing: sseFraming,
  meaningOf,
  isMalformedCall: ({ value }) =>
    isObject(value) && candidatesOf(value).some((each) => malformedCalls.has(each.finishReason) && !hasParts(each)),
  readEnd: (end) => {
    const [, finishReason] = finishInEnd.exec(end) ?? [];
    return finishReason && { candidates: [{ finishReason }] };
  },
  watch: () => new GenerateWatch((error) => `data: ${error}\r\n\r\n`, ''),
  writeError: writeGeminiError,
  fromWhole: (whole) => `data: ${JSON.stringify(whole)}\r\n\r\n`,
  mayBeginEarly: true,
  isDecidedByResponse: false,
};

/** Within a string, its quotes would be escaped. */
const finishInEnd = boundedPattern(/"finishReason"\s{0,9}:\s{0,9}"([A-Z_]{1,60})"/);

/** Without `?alt=sse`: one growing JSON array. */
export const generateArrayStream: StreamFormat = {
  ...generateStream,
  framing: jsonArrayFraming,
  watch: () => new GenerateWatch(asElement, ']'),
  fromWhole: (whole) => `[${JSON.stringify(whole)}]`,
  repack: () => new ArrayRepacking(),
};

/** Converts events as Sluice renders them, with one `data` line each, into array elements. */
class ArrayRepacking implements Repacking {
  #isEmpty = true;

  push(events: Buffer): Buffer {
    const elements = linesOf(events.toString()).filter((line) => line.startsWith('data:'));
    const written = elements.map((line) => this.#separator() + line.slice('data:'.length).trim());
    return Buffer.from(written.join(''));
  }

  end(): Buffer {
    return Buffer.from(this.#isEmpty ? '[]' : ']');
  }

  #separator(): string {
    const separator = this.#isEmpty ? '[' : ',\r\n';
    this.#isEmpty = false;
    return separator;
  }
}

function asElement(error: string, isFirst: boolean): string {
  return `${isFirst ? '[' : ',\r\n'}${error}]`;
}

const content: EventMeaning = { kind: 'content' };
const nothing: EventMeaning = { kind: 'nothing' };

function meaningOf({ value }: StreamEvent): EventMeaning {
  if (!isObject(value)) return errorMeaningOf(value);
  if (value.error) return errorMeaningOf(value);
  if (blockedIn(value)) return content;
  return candidatesOf(value).some((candidate) => candidate.finishReason || hasParts(candidate)) ? content : nothing;
}

function errorMeaningOf(value: unknown): EventMeaning {
  const error = errorIn(value);
  return error ? { kind: 'error', error } : nothing;
}

/** Google's SDKs and clients repeat the request after these. */
const malformedCalls = new Set<unknown>(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL']);

type Json = Record<string, unknown>;

function blockedIn({ promptFeedback }: Json): boolean {
  return isObject(promptFeedback) && Boolean(promptFeedback.blockReason);
}

function candidatesOf({ candidates }: Json): Json[] {
  return Array.isArray(candidates) ? candidates.slice(0, maxCandidates).filter(isObject) : [];
}

/** Google's limit for `candidateCount` is 8. */
const maxCandidates = 32;

function partsOf({ content }: Json): unknown[] {
  return isObject(content) && Array.isArray(content.parts) ? content.parts : [];
}

/** Whether any part has a non-empty value. */
function hasParts(candidate: Json): boolean {
  return partsOf(candidate).some((part) => isObject(part) && Object.values(part).some(Boolean));
}

/**
 * The stream ends with the connection. It is complete if a finish reason was sent, or if it has only thoughts and their
 * token count, since such answers have no finish reason (CLIProxyAPI#5226). Older models send STOP in each event, so more
 * events may follow it (one-api#1477).
 */
class GenerateWatch implements StreamWatch {
  readonly missingEnd: string;
  readonly #errorEvent: (error: string, isFirst: boolean) => string;
  #hasBegun = false;
  #hasReason = false;
  /** More has followed a finish reason. */
  #hasMoreAfterFinish = false;
  #hasFailed = false;
  #onlyThought: boolean | null = null;
  #hasCounted = false;

  constructor(errorEvent: (error: string, isFirst: boolean) => string, missingEnd: string) {
    this.#errorEvent = errorEvent;
    this.missingEnd = missingEnd;
  }

  note({ value }: StreamEvent): void {
    this.#hasBegun = true;
    if (!isObject(value) || value.error) {
      this.#hasFailed ||= errorIn(value) !== null;
      return;
    }
    this.#hasReason ||= blockedIn(value);
    for (const candidate of candidatesOf(value)) {
      this.#hasMoreAfterFinish ||= this.#hasReason && hasParts(candidate);
      this.#hasReason ||= Boolean(candidate.finishReason);
      for (const part of partsOf(candidate)) {
        this.#onlyThought = isObject(part) && part.thought === true && this.#onlyThought !== false;
      }
    }
    const { usageMetadata } = value;
    this.#hasCounted ||= isObject(usageMetadata) && Boolean(usageMetadata.thoughtsTokenCount);
  }

  counted(): void {}

  get isComplete(): boolean {
    return this.#hasFailed || this.#hasReason;
  }

  get hasFinished(): boolean {
    return this.#hasReason;
  }

  /** Answers that have only thoughts have no reason. */
  get saysWhy(): boolean {
    return this.#hasReason || (this.#onlyThought === true && this.#hasCounted);
  }

  get mayContinue(): boolean {
    return !this.#hasFailed;
  }

  get isWhole(): boolean {
    return this.#hasReason && !this.#hasMoreAfterFinish && !this.#hasFailed;
  }

  ending(close: StreamClose): StreamEnd | null {
    if (this.#hasFailed) return 'failed';
    return this.saysWhy && close === 'ended' ? 'complete' : null;
  }

  errorEvent(error: ErrorBody): string {
    return this.#errorEvent(writeGeminiError(error), !this.#hasBegun);
  }
}

/** @param members each answer has at least one of these */
export function geminiAnswer(members: readonly string[], more: Partial<WholeFormat> = {}): WholeFormat {
  return {
    kind: 'json',
    members,
    isNeverLonger: true,
    maxHeldBytes: 32 * 1024 * 1024,
    isNumbers: false,
    judge: (answer) => judge(answer, members),
    ...more,
  };
}

function judge(answer: Record<string, unknown>, members: readonly string[]): Verdict {
  const error = members.some((name) => name in answer) ? null : errorIn(answer);
  return error ? { kind: 'error', status: statusOfError(error), error } : { kind: 'answer' };
}

/**
 * `:generateContent` and `:streamGenerateContent`. The answer to a prompt that is blocked for its content has no
 * candidates.
 */
export const generateContent: Wire<GeminiField> = {
  name: 'gemini-generate',
  operation: 'chat',
  request: geminiRequest,
  whole: geminiAnswer(['candidates', 'promptFeedback', 'usageMetadata']),
  errorName: 'status',
  usage: geminiUsage,
  stream: generateStream,
  rescue: null,
};
