/** Streams of OpenAI's API: of chat and legacy completions, and those whose events tell their types. */
import type { ErrorBody } from '../../../contract/errors.ts';
import { isObject } from '../../../contract/is-object.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { endOfLine, sseFraming } from '../../core/sse-framing.ts';
import type {
  EventMeaning,
  StreamClose,
  StreamEnd,
  StreamEvent,
  StreamFormat,
  StreamWatch,
} from '../../core/stream-format.ts';
import { errorIn, type UpstreamError } from '../../core/upstream-error.ts';
import { JsonNames } from '../../json/json-names.ts';
import { peekJson } from '../../json/json-peek.ts';
import { writeError } from './formats.ts';

/** Streams of chat and legacy completions. */
export const chatStream: StreamFormat = {
  framing: sseFraming,
  meaningOf: ({ value }) => {
    if (!isObject(value)) return nothing;
    const error = chatErrorIn(value);
    if (error) return value.error ? { kind: 'error', error } : { kind: 'error', error, isForeign: true };
    return errorMeaningOf(value) ?? (isAnswering(value) ? content : nothing);
  },
  readEnd: (end) => {
    const [, finish_reason] = finishInEnd.exec(end) ?? [];
    return finish_reason && { choices: [{ index: 0, text: 'of the event', finish_reason }] };
  },
  watch: (choices) => new ChatWatch(choices),
  writeError,
  fromWhole: chatStreamFromWhole,
  withoutUsage,
  mayBeginEarly: true,
  isDecidedByResponse: false,
};

/** Within a string, its quotes would be escaped. */
const finishInEnd = boundedPattern(/"finish_reason"\s{0,9}:\s{0,9}"([a-z_]{1,60})"/);
const nothing: EventMeaning = { kind: 'nothing' };
const content: EventMeaning = { kind: 'content' };

/**
 * Chat chunks have no type. `[DONE]` ends them, as does an error chunk. If an upstream omits `[DONE]`, each choice needs
 * its `finish_reason` and the stream its proper end.
 */
class ChatWatch implements StreamWatch {
  readonly #choices: number;
  readonly #finished = new Set<unknown>();
  /**
   * Choices whose last chunk held nothing but a `finish_reason`; an upstream may send a reason with each piece of text or
   * reasoning.
   */
  readonly #closed = new Set<unknown>();
  /** Choices that went on after a `finish_reason`, which therefore means nothing but in a chunk of its own. */
  readonly #continuedChoices = new Set<unknown>();
  #ending: StreamEnd | null = null;

  constructor(choices: number) {
    this.#choices = choices;
  }

  note({ data, value }: StreamEvent): void {
    if (data === '[DONE]') this.#ending ??= 'complete';
    if (!isObject(value)) return;
    if (chatErrorIn(value)) this.#ending = 'failed';
    for (const choice of choicesOf(value)) {
      const says = saysSomething(choice);
      if (says && this.#finished.has(choice?.index)) this.#continuedChoices.add(choice?.index);
      if (choice?.finish_reason) this.#finished.add(choice.index);
      if (says) this.#closed.delete(choice?.index);
      else if (choice?.finish_reason) this.#closed.add(choice.index);
    }
  }

  counted(): void {}

  get isComplete(): boolean {
    return this.#ending !== null || this.#closed.size >= this.#choices;
  }

  get hasFinished(): boolean {
    return this.#ending === 'complete' || this.saysWhy;
  }

  get saysWhy(): boolean {
    return this.#finished.size >= this.#choices;
  }

  get mayContinue(): boolean {
    return this.#ending === null;
  }

  get isWhole(): boolean {
    const isWhole = (choice: unknown) => this.#closed.has(choice) || !this.#continuedChoices.has(choice);
    return this.#ending !== 'failed' && this.saysWhy && [...this.#finished].every(isWhole);
  }

  get missingEnd(): string {
    return this.#ending === null ? doneEvent : '';
  }

  ending(close: StreamClose): StreamEnd | null {
    return this.#ending ?? (close === 'ended' && this.saysWhy ? 'complete' : null);
  }

  errorEvent(error: ErrorBody): string {
    return chatErrorEvent(error);
  }
}

const doneEvent = 'data: [DONE]\n\n';

export function chatErrorEvent(error: ErrorBody): string {
  return `data: ${JSON.stringify({ error })}\n\n`;
}

function isAnswering(chunk: Record<string, unknown>): boolean {
  return choicesOf(chunk).some((choice) => choice?.finish_reason || saysSomething(choice));
}

/** The known members of a choice in a chat chunk. */
interface Choice {
  index?: unknown;
  text?: unknown;
  delta?: unknown;
  finish_reason?: unknown;
}

/** Limit of parallel choices; clients never ask for more. */
export const maxChoices = 256;

function choicesOf({ choices }: Record<string, unknown>): readonly (Choice | null)[] {
  return Array.isArray(choices) ? choices.slice(0, maxChoices) : [];
}

/** Whether a choice contains more than its end. */
function saysSomething(choice: Choice | null): boolean {
  return Boolean(choice?.text) || hasMore(choice?.delta);
}

/** Any non-empty member of a delta counts, except for the role. */
function hasMore(delta: unknown): boolean {
  if (typeof delta !== 'object' || delta === null) return false;
  return Object.entries(delta).some(([name, value]) => name !== 'role' && !isEmpty(value));
}

/** Snowflake sends `"function_call":{"name":"","arguments":""}` beside each text: members that are there and say nothing. */
function isEmpty(value: unknown): boolean {
  return !value || (typeof value === 'object' && Object.values(value).every((member) => !member));
}

/** The end of nearly every such event: the last member of its object, then the blank line. */
const usualEnd = Buffer.from(',"usage":null}\n\n');
const keptOfUsualEnd = Buffer.from('}\n\n');
const lookedFor = new JsonNames(['usage', 'choices']);
const usageKey = Buffer.from('"usage"');
const dataField = boundedPattern(/^data: ?/m);
const comma = 0x2c;
const openingBracket = 0x5b;

/**
 * Removes usage from a chat stream if Sluice asked for it and the client did not, so that the client's bytes are the
 * same as without: drops the extra chunk (`"choices":[]` with usage) and the `"usage":null` that all other chunks then
 * carry. Events without the raw text `"usage"` are not examined.
 *
 * An `EventFilter`.
 */
export function withoutUsage(event: Buffer): Buffer | null {
  const usualAt = event.length - usualEnd.length;
  if (usualAt > 0 && event.compare(usualEnd, 0, usualEnd.length, usualAt) === 0) return shortened(event, usualAt);
  if (!event.includes(usageKey)) return event;
  const start = payloadStart(event);
  if (start === -1) return event;
  const payload = event.subarray(start, endOfLine(event, start));
  const peek = peekJson(payload, lookedFor);
  const usage = peek.ok ? peek.fields.get('usage') : undefined;
  const choices = peek.ok ? peek.fields.get('choices') : undefined;
  if (!usage) return event;
  const isNull = payload[usage.start] === 0x6e;
  if (isNull) return withoutRange(event, start + usage.keyStart, start + usage.end);
  const noChoices = choices?.items === 0 && payload[choices.start] === openingBracket;
  return noChoices ? null : event;
}

/** Avoids searching and parsing, which would be most of the cost of a stream at full speed. */
function shortened(event: Buffer, at: number): Buffer {
  const rest = Buffer.allocUnsafe(at + keptOfUsualEnd.length);
  event.copy(rest, 0, 0, at);
  keptOfUsualEnd.copy(rest, at);
  return rest;
}

/** For a `data:` event of one line; anything else is left unchanged. */
function payloadStart(event: Buffer): number {
  const match = dataField.exec(event.toString('latin1', 0, 200));
  return match ? match.index + match[0].length : -1;
}

/** Removes a member together with its comma. */
function withoutRange(event: Buffer, from: number, to: number): Buffer {
  const before = skipSpaceBack(event, from);
  if (event[before - 1] === comma) return Buffer.concat([event.subarray(0, before - 1), event.subarray(to)]);
  const after = skipSpace(event, to);
  const end = event[after] === comma ? after + 1 : to;
  return Buffer.concat([event.subarray(0, from), event.subarray(end)]);
}

const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

function skipSpaceBack(bytes: Buffer, offset: number): number {
  let at = offset;
  while (isSpace(bytes[at - 1])) at--;
  return at;
}

function skipSpace(bytes: Buffer, offset: number): number {
  let at = offset;
  while (isSpace(bytes[at])) at++;
  return at;
}

type Json = Record<string, unknown>;

/**
 * The stream of a whole answer, for an upstream that ignores `stream: true`. Without it, SDKs would report a stream with
 * neither events nor an error. Null for anything else than a chat or legacy completion.
 */
function chatStreamFromWhole(answer: Json): string | null {
  return Array.isArray(answer.choices) ? chatEvents(answer, answer.choices.filter(isObject)) : null;
}

/** Includes a usage chunk, which is removed again if the client did not ask for it. */
function chatEvents({ choices: _, usage, ...shared }: Json, choices: readonly Json[]): string {
  const head = { ...shared, object: shared.object === 'text_completion' ? shared.object : 'chat.completion.chunk' };
  const chunks: Json[] = [{ ...head, choices: choices.map(contentOf) }];
  const endings = choices.filter(({ message }) => isObject(message)).map(endOf);
  if (endings.length > 0) chunks.push({ ...head, choices: endings });
  if (usage) chunks.push({ ...head, choices: [], usage });
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
}

/** In a legacy completion, text has the same place with and without streaming. */
function contentOf({ message, ...choice }: Json): Json {
  if (!isObject(message)) return choice;
  const { tool_calls: calls, ...delta } = message;
  const numbered = Array.isArray(calls) ? { tool_calls: calls.map((call, index) => ({ index, ...call })) } : {};
  return { ...choice, delta: { ...delta, ...numbered }, finish_reason: null };
}

function endOf({ index, finish_reason }: Json): Json {
  return { index, delta: {}, logprobs: null, finish_reason: finish_reason ?? 'stop' };
}

interface TypedKind {
  /** Types of the final event. */
  endTypes: readonly string[];
  isResponse: boolean;
}

/** Streams of typed events, unlike chat streams. */
function typedStream(kind: TypedKind, more: Partial<StreamFormat> = {}): StreamFormat {
  return {
    framing: sseFraming,
    meaningOf: (event) => meaningOf(event, kind),
    watch: (answers) => new TypedWatch(kind, answers),
    writeError,
    fromWhole: () => null,
    mayBeginEarly: false,
    isDecidedByResponse: false,
    ...more,
  };
}

export const responseStream = typedStream(
  { endTypes: ['response.completed', 'response.incomplete', 'response.done'], isResponse: true },
  { fromWhole: responseStreamFromWhole, mayBeginEarly: true },
);
export const imageStream = typedStream({
  endTypes: ['image_generation.completed', 'image_edit.completed'],
  isResponse: false,
});
export const transcriptStream = typedStream({ endTypes: ['transcript.text.done'], isResponse: false });
/** Requested by `stream_format`; an upstream that does not know such streams sends audio. */
export const speechStream = typedStream(
  { endTypes: ['speech.audio.done'], isResponse: false },
  { isDecidedByResponse: true },
);

/** Events that only announce or report progress. */
const announcements = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'keepalive',
  'ping',
  'message_start',
]);
const progressEvents = ['keepalive', 'response.in_progress'];

const alive: EventMeaning = { kind: 'alive' };

function meaningOf({ value }: StreamEvent, { isResponse }: TypedKind): EventMeaning {
  if (!isObject(value)) return nothing;
  const error = errorMeaningOf(value);
  if (error) return error;
  const type = typeof value.type === 'string' ? value.type : '';
  if (isResponse && progressEvents.includes(type)) return alive;
  return announcements.has(type) ? nothing : content;
}

/** The nested form, as OpenAI sends it: the Python SDK does not treat the flat form of the specification as an error. */
export function responseErrorEvents(error: ErrorBody, id = 'resp_unknown', sequenceNumber = 0): string {
  const failed = {
    type: 'response.failed',
    sequence_number: sequenceNumber + 1,
    response: {
      id,
      object: 'response',
      status: 'failed',
      error: { code: 'server_error', message: error.message },
      output: [],
    },
  };
  return (
    `event: error\ndata: ${JSON.stringify({ type: 'error', sequence_number: sequenceNumber, error })}\n\n` +
    `event: response.failed\ndata: ${JSON.stringify(failed)}\n\n`
  );
}

const failedTypes = ['error', 'response.failed'];

class TypedWatch implements StreamWatch {
  readonly missingEnd = '';
  readonly #kind: TypedKind;
  readonly #answers: number;
  #finished = 0;
  #ending: StreamEnd | null = null;
  /** The event of its failure has all of the response, with its usage. */
  #isToldWhole = false;
  #responseId: string | undefined;
  #nextSequenceNumber = 0;

  constructor(kind: TypedKind, answers: number) {
    this.#kind = kind;
    this.#answers = answers;
  }

  note({ name, data, value }: StreamEvent): void {
    const {
      type: dataType,
      error,
      response,
      sequence_number: number,
    }: Record<string, unknown> = isObject(value) ? value : {};
    const type = name || (typeof dataType === 'string' ? dataType : '');

    if (type === 'response.failed') this.#isToldWhole = true;
    if (error || failedTypes.includes(type)) this.#ending = 'failed';
    else if (data === '[DONE]') this.#ending ??= 'complete';
    else if (this.#kind.endTypes.includes(type)) this.#finished++;
    if (isObject(response) && typeof response.id === 'string') this.#responseId ??= response.id;
    if (typeof number === 'number') this.counted(number);
  }

  counted(sequenceNumber: number): void {
    this.#nextSequenceNumber = sequenceNumber + 1;
  }

  get isComplete(): boolean {
    return this.#ending !== null || this.#finished >= this.#answers;
  }

  get hasFinished(): boolean {
    return this.#ending === 'failed' ? this.#isToldWhole : this.isComplete;
  }

  get saysWhy(): boolean {
    return this.#finished > 0;
  }

  get mayContinue(): boolean {
    return !this.isComplete;
  }

  get isWhole(): boolean {
    return this.#ending !== 'failed' && this.#finished >= this.#answers;
  }

  /** Upstreams may make fewer images than requested. */
  ending(close: StreamClose): StreamEnd | null {
    const isFinished = this.isComplete || (close === 'ended' && this.#finished > 0);
    return this.#ending ?? (isFinished ? 'complete' : null);
  }

  errorEvent(error: ErrorBody): string {
    return this.#kind.isResponse
      ? responseErrorEvents(error, this.#responseId, this.#nextSequenceNumber)
      : `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`;
  }
}

/**
 * The stream of a whole answer, for an upstream that ignores `stream: true`. Without it, SDKs would report a stream with
 * neither events nor an error. Null for anything else than a response object.
 */
function responseStreamFromWhole(answer: Json): string | null {
  return Array.isArray(answer.output) ? responseEvents(answer, answer.output) : null;
}

function responseEvents(response: Json, output: readonly unknown[]): string {
  const startedResponse = { ...response, status: 'in_progress', output: [], usage: null };
  const events: Json[] = [
    { type: 'response.created', response: startedResponse },
    { type: 'response.in_progress', response: startedResponse },
    ...output.filter(isObject).flatMap(itemEvents),
    { type: response.status === 'incomplete' ? 'response.incomplete' : 'response.completed', response },
  ];
  return events.map((event, index) => numbered(event, index)).join('');
}

function numbered({ type, ...event }: Json, sequenceNumber: number): string {
  const data = JSON.stringify({ type, sequence_number: sequenceNumber, ...event });
  return `event: ${type}\ndata: ${data}\n\n`;
}

function itemEvents(item: Json, index: number): Json[] {
  const position = { item_id: item.id, output_index: index };
  return [
    { type: 'response.output_item.added', output_index: index, item: { ...item, ...emptied(item) } },
    ...(Array.isArray(item.content)
      ? item.content.filter(isObject).flatMap((part, at) => partEvents(part, at, position))
      : []),
    ...(typeof item.arguments === 'string' ? argumentEvents(item.arguments, position) : []),
    { type: 'response.output_item.done', output_index: index, item },
  ];
}

function emptied({ content, arguments: callArguments }: Json): Json {
  const status = { status: 'in_progress' };
  if (Array.isArray(content)) return { ...status, content: [] };
  return typeof callArguments === 'string' ? { ...status, arguments: '' } : {};
}

function partEvents(part: Json, index: number, position: Json): Json[] {
  const at = { ...position, content_index: index };
  const name = part.type === 'refusal' ? 'refusal' : 'text';
  const kind = part.type === 'refusal' ? 'response.refusal' : `response.${part.type}`;
  const value = part[name];
  const hasDeltas = typeof value === 'string' && textTypes.has(part.type);
  return [
    { type: 'response.content_part.added', ...at, part: hasDeltas ? { ...part, [name]: '' } : part },
    ...(hasDeltas
      ? [
          { type: `${kind}.delta`, ...at, delta: value },
          { type: `${kind}.done`, ...at, [name]: value },
        ]
      : []),
    { type: 'response.content_part.done', ...at, part },
  ];
}

const textTypes = new Set<unknown>(['output_text', 'reasoning_text', 'refusal']);

function argumentEvents(callArguments: string, position: Json): Json[] {
  return [
    { type: 'response.function_call_arguments.delta', ...position, delta: callArguments },
    { type: 'response.function_call_arguments.done', ...position, arguments: callArguments },
  ];
}

/** The error in an event, or null. */
function errorMeaningOf(value: Record<string, unknown>): EventMeaning | null {
  if (!value.error && value.type !== 'error' && value.type !== 'response.failed') return null;
  return { kind: 'error', error: errorIn(value) ?? unnamed };
}

/**
 * The error in a chat chunk, or null: that of the chunk, that of its choice (openrouter.ai/docs, "Errors"), or a flat one, as vLLM
 * sent up to 0.10.0.
 */
export function chatErrorIn(chunk: Record<string, unknown>): UpstreamError | null {
  if (chunk.error || chunk.object === 'error') return errorIn(chunk) ?? unnamed;
  const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
  return isObject(choice) && choice.error ? (errorIn(choice) ?? unnamed) : null;
}

const unnamed: UpstreamError = { message: '', type: '', code: '', param: null, retryAfterMs: null };
