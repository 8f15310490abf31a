import type { ErrorBody } from '../../../contract/errors.ts';
import { isObject } from '../../../contract/is-object.ts';
import type { StreamEvent } from '../../core/sse-event.ts';
import type { EventMeaning, StreamClose, StreamEnd, StreamFormat, StreamWatch } from '../../core/stream-format.ts';
import { sseFraming } from '../../core/streams/sse-framing.ts';
import { errorMeaningOf, writeError } from './formats.ts';

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

const nothing: EventMeaning = { kind: 'nothing' };
const alive: EventMeaning = { kind: 'alive' };
const content: EventMeaning = { kind: 'content' };

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

type Json = Record<string, unknown>;

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
