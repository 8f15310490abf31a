/**
 * How each kind of event stream ends well, and how its clients are told that it did not. Both official SDKs read a
 * stream that merely stops as a success, so Sluice has to know the terminal events (wire facts: `docs/api.md`, "Streams").
 */
import type { ErrorBody } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { type StreamEvent, saysNothing } from '../sse-event.ts';
import { choicesOf, saysSomething } from './first-event.ts';

export type StreamProtocol = 'chat' | 'responses' | 'images' | 'transcription' | 'speech';

/** `failed`: the upstream itself has told the client of an error, so nothing is to be added. */
export type StreamEnd = 'complete' | 'failed';

/** Whether the upstream ended the stream in good order. `cut`: the connection broke, or an event is only half there. */
export type StreamClose = 'ended' | 'cut';

/** Follows one stream of a protocol. */
export interface StreamWatch {
  /** To be told of each event that the client gets, but for those that are like one before it in all but their text. */
  note(event: StreamEvent): void;
  /** The number of such an event. */
  counted(sequenceNumber: number): void;
  /** Nothing is missing, or nothing more is to come, but for the end itself. */
  readonly isComplete: boolean;
  /** It is complete as far as can be seen, but its last word has not come: usage may follow, or after all a text. */
  readonly mayGoOn: boolean;
  /** How the stream has ended; null while more is due. */
  ending(close: StreamClose): StreamEnd | null;
  /** The event that makes both SDKs raise `error`. */
  errorEvent(error: ErrorBody): string;
}

/** `choices`: how many answers a chat stream brings beside one another, or how many pictures. */
export function watchStream(protocol: StreamProtocol, choices = 1): StreamWatch {
  return protocol === 'chat' ? new ChatWatch(choices) : new TypedEventsWatch(protocol, choices);
}

/**
 * What a stream leaves after its last blank line. Some upstreams end without one, and SDKs take the rest for an event
 * then; a mere piece of one makes them fail on its JSON. `nothing`: comments and the like.
 */
export function kindOfRest(rest: Buffer, event: StreamEvent | null): 'event' | 'piece' | 'nothing' {
  if (event?.data === '[DONE]' || isObject(event?.value)) return 'event';
  return saysNothing(rest) ? 'nothing' : 'piece';
}

/**
 * Chat chunks carry no type. `[DONE]` ends them; an error chunk is an end too. Some upstreams leave `[DONE]` out: then
 * each choice must have its `finish_reason` and the stream its orderly end.
 */
class ChatWatch implements StreamWatch {
  readonly #choices: number;
  readonly #finished = new Set<unknown>();
  /** Of these it was said last, and by itself. Some upstreams name a reason with each piece of a text or thought. */
  readonly #closed = new Set<unknown>();
  #ending: StreamEnd | null = null;

  constructor(choices: number) {
    this.#choices = choices;
  }

  note({ data, value }: StreamEvent): void {
    if (data === '[DONE]') this.#ending ??= 'complete';
    if (!isObject(value)) return;
    if (value.error) this.#ending = 'failed';
    for (const choice of choicesOf(value)) {
      if (choice?.finish_reason) this.#finished.add(choice.index);
      if (saysSomething(choice)) this.#closed.delete(choice?.index);
      else if (choice?.finish_reason) this.#closed.add(choice.index);
    }
  }

  counted(): void {}

  get isComplete(): boolean {
    return this.#ending !== null || this.#closed.size >= this.#choices;
  }

  get mayGoOn(): boolean {
    return this.#ending === null;
  }

  ending(close: StreamClose): StreamEnd | null {
    const isFinished = close === 'ended' && this.#finished.size >= this.#choices;
    return this.#ending ?? (isFinished ? 'complete' : null);
  }

  errorEvent(error: ErrorBody): string {
    return chatErrorEvent(error);
  }
}

export function chatErrorEvent(error: ErrorBody): string {
  return `data: ${JSON.stringify({ error })}\n\n`;
}

/** The nested form, as OpenAI sends it: the flat one of its specification is no error to the Python SDK. */
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

type TypedProtocol = Exclude<StreamProtocol, 'chat'>;

const terminalTypes: Record<TypedProtocol, readonly string[]> = {
  responses: ['response.completed', 'response.incomplete'],
  images: ['image_generation.completed', 'image_edit.completed'],
  transcription: ['transcript.text.done'],
  speech: ['speech.audio.done'],
};
const failedTypes = ['error', 'response.failed'];

class TypedEventsWatch implements StreamWatch {
  readonly #protocol: TypedProtocol;
  readonly #answers: number;
  #finished = 0;
  #ending: StreamEnd | null = null;
  #responseId: string | undefined;
  #nextSequenceNumber = 0;

  constructor(protocol: TypedProtocol, answers: number) {
    this.#protocol = protocol;
    this.#answers = answers;
  }

  note({ name, data, value }: StreamEvent): void {
    const { type, error, response, sequence_number: number }: Record<string, unknown> = isObject(value) ? value : {};
    const kind = name || String(type);
    if (error || failedTypes.includes(kind)) this.#ending = 'failed';
    else if (data === '[DONE]') this.#ending ??= 'complete';
    else if (terminalTypes[this.#protocol].includes(kind)) this.#finished++;
    if (isObject(response) && typeof response.id === 'string') this.#responseId ??= response.id;
    if (typeof number === 'number') this.counted(number);
  }

  counted(sequenceNumber: number): void {
    this.#nextSequenceNumber = sequenceNumber + 1;
  }

  get isComplete(): boolean {
    return this.#ending !== null || this.#finished >= this.#answers;
  }

  get mayGoOn(): boolean {
    return !this.isComplete;
  }

  /** Some make fewer pictures than they were asked for. */
  ending(close: StreamClose): StreamEnd | null {
    const isFinished = this.isComplete || (close === 'ended' && this.#finished > 0);
    return this.#ending ?? (isFinished ? 'complete' : null);
  }

  errorEvent(error: ErrorBody): string {
    return this.#protocol === 'responses'
      ? responseErrorEvents(error, this.#responseId, this.#nextSequenceNumber)
      : `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`;
  }
}
