/**
 * How each kind of event stream ends well, and how its clients are told that it did not. Both official SDKs read a
 * stream that merely stops as a success, so Sluice has to know the terminal events (wire facts: `docs/api.md`, "Streams").
 */
import type { ErrorBody } from '../contract/errors.ts';
import type { EventFilter } from '../transport/sse-gate.ts';
import type { Tail } from './tail.ts';

export type StreamProtocol = 'chat' | 'responses' | 'images' | 'transcription' | 'speech';

/** `failed`: the upstream itself has told the client of an error, so nothing is to be added. */
export type StreamEnd = 'complete' | 'failed';

/** Whether the upstream ended the stream in good order. `cut`: the connection broke, or an event is only half there. */
export type StreamClose = 'ended' | 'cut';

/** Follows one stream of a protocol. */
export interface StreamWatch {
  /** Present where single events have to be seen, not only the last ones. */
  readonly filter?: EventFilter;
  /** How the stream has ended, by the whole events that the client got (`delivered`); null while more is due. */
  ending(delivered: Tail, close: StreamClose): StreamEnd | null;
  /** The event that makes both SDKs raise `error`. */
  errorEvent(error: ErrorBody): string;
}

/** `choices`: how many answers a chat stream brings beside one another. */
export function watchStream(protocol: StreamProtocol, choices = 1): StreamWatch {
  return protocol === 'chat' ? new ChatWatch(choices) : new TypedEventsWatch(protocol);
}

// A string in JSON holds no raw line break and no raw quote, so neither pattern can be met by what a model says.
const lineEnd = /\r\n|\n|\r/;
const doneLine = /^data: ?\[DONE\]/m;
const finishReason = /"finish_reason"\s*:\s*"/;

/**
 * What a stream leaves after its last blank line. Some upstreams end without one, and SDKs take the rest for an event
 * then; a mere piece of one makes them fail on its JSON. `nothing`: comments and the like.
 */
export function kindOfRest(rest: Buffer): 'event' | 'piece' | 'nothing' {
  const text = rest.toString('latin1');
  const data = dataOf(text);
  if (data.trim() === '[DONE]' || parseObject(data) !== null) return 'event';
  return text.split(lineEnd).every((line) => line === '' || line.startsWith(':')) ? 'nothing' : 'piece';
}

function dataOf(event: string): string {
  const lines = event.split(lineEnd).filter((line) => line.startsWith('data:'));
  return lines.map((line) => line.slice('data:'.length)).join('\n');
}

/**
 * Chat chunks carry no type. `[DONE]` ends them; an error chunk is an end too. Some upstreams leave `[DONE]` out: then
 * each choice must have its `finish_reason` and the stream its orderly end. All that stands in the last bytes, so no
 * chunk has to be looked into, unless there are several choices: one may be done long before another.
 */
class ChatWatch implements StreamWatch {
  readonly filter?: EventFilter;
  readonly #choices: number;
  readonly #finished = new Set<unknown>();

  constructor(choices: number) {
    this.#choices = choices;
    if (choices > 1) {
      this.filter = (event) => {
        this.#noteFinished(event);
        return event;
      };
    }
  }

  ending(delivered: Tail, close: StreamClose): StreamEnd | null {
    const text = delivered.bytes.toString('latin1');
    if (text.includes('"error"') && text.split(lineEnd).some(isErrorChunk)) return 'failed';
    if (doneLine.test(text)) return 'complete';
    const isFinished = this.#choices > 1 ? this.#finished.size >= this.#choices : finishReason.test(text);
    return close === 'ended' && isFinished ? 'complete' : null;
  }

  errorEvent(error: ErrorBody): string {
    return `data: ${JSON.stringify({ error })}\n\n`;
  }

  #noteFinished(event: Buffer): void {
    const text = event.toString();
    if (!finishReason.test(text)) return;
    const chunk = parseObject(dataOf(text));
    const choices = chunk && 'choices' in chunk && Array.isArray(chunk.choices) ? chunk.choices : [];
    for (const choice of choices) if (choice?.finish_reason) this.#finished.add(choice.index);
  }
}

/** A truthy `error` on top, beside whatever else, is what both SDKs raise. */
function isErrorChunk(line: string): boolean {
  if (!line.startsWith('data:') || !line.includes('"error"')) return false;
  const chunk = parseObject(line.slice('data:'.length));
  return chunk !== null && 'error' in chunk && Boolean(chunk.error);
}

function parseObject(json: string): object | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

type TypedProtocol = Exclude<StreamProtocol, 'chat'>;

const terminalTypes: Record<TypedProtocol, readonly string[]> = {
  responses: ['response.completed', 'response.incomplete'],
  images: ['image_generation.completed', 'image_edit.completed'],
  transcription: ['transcript.text.done'],
  speech: ['speech.audio.done'],
};
const failedTypes = ['error', 'response.failed'];

const namedType = /^event: ?([a-z_.]+)/m;
const leadingType = /^data: ?\{\s*"type"\s*:\s*"([a-z_.]+)"/m;
const errorEvent = /^data: ?\{\s*"error"\s*:\s*[{"]/m;
const responseId = /"response"\s*:\s*\{\s*"id"\s*:\s*"([^"\\]+)"/;
const sequenceNumber = /"sequence_number"\s*:\s*(\d+)/;

class TypedEventsWatch implements StreamWatch {
  readonly #protocol: TypedProtocol;
  #ending: StreamEnd | null = null;
  #responseId = 'resp_unknown';
  #nextSequenceNumber = 0;

  constructor(protocol: TypedProtocol) {
    this.#protocol = protocol;
  }

  readonly filter: EventFilter = (event) => {
    const head = event.toString('latin1', 0, 400);
    const type = (namedType.exec(head) ?? leadingType.exec(head))?.[1] ?? this.#terminalTypeIn(event);
    if (type && failedTypes.includes(type)) this.#ending = 'failed';
    else if (doneLine.test(head) || (type && terminalTypes[this.#protocol].includes(type))) this.#ending ??= 'complete';
    if (this.#protocol === 'responses') this.#noteResponse(head, type);
    return event;
  };

  ending(): StreamEnd | null {
    return this.#ending;
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

  /** Peers that write their members in another order have the type anywhere. */
  #terminalTypeIn(event: Buffer): string | undefined {
    const text = event.toString('latin1');
    if (errorEvent.test(text)) return 'error';
    return [...terminalTypes[this.#protocol], ...failedTypes].find((type) =>
      new RegExp(`"type"\\s*:\\s*"${type.replaceAll('.', '\\.')}"`).test(text),
    );
  }

  #noteResponse(head: string, type: string | undefined): void {
    if (type === 'response.created') this.#responseId = responseId.exec(head)?.[1] ?? this.#responseId;
    const number = sequenceNumber.exec(head)?.[1];
    if (number) this.#nextSequenceNumber = Number(number) + 1;
  }
}
