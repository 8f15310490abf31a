import type { ErrorBody } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import type { Framing } from '../core/framing.ts';
import type { StreamEvent } from '../core/sse-event.ts';
import type { EventMeaning, StreamEnd, StreamFormat, StreamWatch } from '../core/stream-format.ts';
import { sseFraming } from '../core/streams/sse-framing.ts';
import { errorIn } from '../core/upstream-error.ts';
import { writeAnthropicError } from './write-error.ts';

/** Clients expect `ping` events, where those of other APIs need only comments. */
const framing: Framing = { ...sseFraming, keepAlive: Buffer.from('event: ping\ndata: {"type":"ping"}\n\n') };

export const messagesStream: StreamFormat = {
  framing,
  meaningOf,
  watch: () => new MessagesWatch(),
  writeError: writeAnthropicError,
  fromWhole: () => null,
  mayBeginEarly: true,
  isDecidedByResponse: false,
};

const content: EventMeaning = { kind: 'content' };
const nothing: EventMeaning = { kind: 'nothing' };

function meaningOf({ value }: StreamEvent): EventMeaning {
  const type = typeOf(value);
  if (type === 'content_block_start' || type === 'content_block_delta' || type === 'message_delta') return content;
  const error = type === 'error' ? errorIn(value) : null;
  return error ? { kind: 'error', error } : nothing;
}

function typeOf(value: unknown): unknown {
  return isObject(value) ? value.type : undefined;
}

/** The last `message_delta` has the reason and all usage. */
function hasReason(event: unknown): boolean {
  return isObject(event) && isObject(event.delta) && Boolean(event.delta.stop_reason);
}

const stopEvent = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

/** Ends with `message_stop` or `error`; before its stop reason any other end of the connection is a break. */
class MessagesWatch implements StreamWatch {
  #ending: StreamEnd | null = null;
  #hasReason = false;

  note({ value }: StreamEvent): void {
    const type = typeOf(value);
    if (type === 'message_delta') this.#hasReason ||= hasReason(value);
    if (type === 'message_stop') this.#ending ??= 'complete';
    else if (type === 'error') this.#ending = 'failed';
  }

  counted(): void {}

  get isComplete(): boolean {
    return this.#ending !== null || this.#hasReason;
  }

  get hasFinished(): boolean {
    return this.#hasReason;
  }

  get saysWhy(): boolean {
    return this.#hasReason;
  }

  get mayContinue(): boolean {
    return this.#ending === null;
  }

  get isWhole(): boolean {
    return this.#ending !== 'failed' && this.#hasReason;
  }

  get missingEnd(): string {
    return this.#ending === null ? stopEvent : '';
  }

  ending(): StreamEnd | null {
    return this.#ending;
  }

  errorEvent(error: ErrorBody): string {
    return `event: error\ndata: ${writeAnthropicError(error)}\n\n`;
  }
}
