/**
 * How each kind of event stream ends well, and how its clients are told that it did not. Both official SDKs read a
 * stream that merely stops as a success, so Sluice has to know the terminal events (wire facts: `docs/api.md`, "Streams").
 */
import type { ErrorBody } from '../contract/errors.ts';
import type { EventFilter } from '../transport/sse-gate.ts';
import type { Tail } from './tail.ts';

export type StreamProtocol = 'chat' | 'responses' | 'images' | 'transcription' | 'speech';

/** Follows one stream of a protocol. */
export interface StreamWatch {
  /** Present where the terminal event is known by its type, which stands at its beginning. */
  readonly filter?: EventFilter;
  /** The stream has said all it had to say. */
  isComplete(tail: Tail): boolean;
  /** The event that makes both SDKs raise `error`. */
  errorEvent(error: ErrorBody): string;
}

export function watchStream(protocol: StreamProtocol): StreamWatch {
  return protocol === 'chat' ? chatWatch : new TypedEventsWatch(protocol);
}

const doneMark = /data: ?\[DONE\]/;
const finishReason = /"finish_reason"\s*:\s*"/;
const errorInChunk = /^data: ?\{\s*"error"\s*:\s*[{"]/m;

/**
 * Chat chunks carry no type. `[DONE]` ends them; some upstreams leave it out after a chunk with a `finish_reason`; an
 * error chunk is an end too, and the client has been told. All stand in the last bytes, so no chunk has to be looked into.
 */
const chatWatch: StreamWatch = {
  isComplete(tail) {
    const text = tail.bytes.toString('latin1');
    return doneMark.test(text.slice(-64)) || finishReason.test(text) || errorInChunk.test(text);
  },
  errorEvent: (error) => `data: ${JSON.stringify({ error })}\n\n`,
};

const terminalTypes: Record<Exclude<StreamProtocol, 'chat'>, readonly string[]> = {
  responses: ['response.completed', 'response.incomplete', 'response.failed'],
  images: ['image_generation.completed', 'image_edit.completed'],
  transcription: ['transcript.text.done'],
  speech: ['speech.audio.done'],
};

const eventType = /(?:^event: ?|"type"\s*:\s*")([a-z_.]+)/m;
const responseId = /"response"\s*:\s*\{\s*"id"\s*:\s*"([^"\\]+)"/;
const sequenceNumber = /"sequence_number"\s*:\s*(\d+)/;

class TypedEventsWatch implements StreamWatch {
  readonly #protocol: Exclude<StreamProtocol, 'chat'>;
  #ended = false;
  #responseId = 'resp_unknown';
  #nextSequenceNumber = 0;

  constructor(protocol: Exclude<StreamProtocol, 'chat'>) {
    this.#protocol = protocol;
  }

  readonly filter: EventFilter = (event) => {
    const head = event.toString('latin1', 0, 400);
    const type = eventType.exec(head)?.[1];
    if (doneMark.test(head) || type === 'error' || (type && terminalTypes[this.#protocol].includes(type)))
      this.#ended = true;
    if (this.#protocol === 'responses') this.#noteResponse(head, type);
    return event;
  };

  isComplete(): boolean {
    return this.#ended;
  }

  errorEvent(error: ErrorBody): string {
    const sequence_number = this.#nextSequenceNumber;
    if (this.#protocol !== 'responses') return `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`;
    // The nested form, as OpenAI sends it: the flat one of its specification is no error to the Python SDK.
    const failed = {
      type: 'response.failed',
      sequence_number: sequence_number + 1,
      response: {
        id: this.#responseId,
        object: 'response',
        status: 'failed',
        error: { code: 'server_error', message: error.message },
        output: [],
      },
    };
    return (
      `event: error\ndata: ${JSON.stringify({ type: 'error', sequence_number, error })}\n\n` +
      `event: response.failed\ndata: ${JSON.stringify(failed)}\n\n`
    );
  }

  #noteResponse(head: string, type: string | undefined): void {
    if (type === 'response.created') this.#responseId = responseId.exec(head)?.[1] ?? this.#responseId;
    const number = sequenceNumber.exec(head)?.[1];
    if (number) this.#nextSequenceNumber = Number(number) + 1;
  }
}
