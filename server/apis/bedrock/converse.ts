/** The wire of Bedrock's Converse API: requests, whole answers and streams. */
import type { ErrorBody } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { statusOfError } from '../core/errors/error-names.ts';
import { conversationFields, conversationOf, sessionFields } from '../core/requests/client-session.ts';
import type { StreamEvent } from '../core/sse-event.ts';
import type { EventMeaning, StreamClose, StreamEnd, StreamFormat, StreamWatch } from '../core/stream-format.ts';
import { sseFraming } from '../core/streams/sse-framing.ts';
import { errorIn } from '../core/upstream-error.ts';
import type { RequestFormat, Verdict, WholeFormat, Wire } from '../core/wire.ts';
import { converseUsage } from './usage.ts';

/**
 * Streams of Bedrock's Converse API, whose frames have been unpacked into server-sent events: each is an object with
 * one member, its type, as in AWS's SDKs. Source: Amazon Bedrock API reference, `ConverseStreamOutput`.
 */
export const converseStream: StreamFormat = {
  framing: sseFraming,
  meaningOf,
  watch: () => new ConverseWatch(),
  writeError: writeBedrockError,
  fromWhole: () => null,
  mayBeginEarly: true,
  isDecidedByResponse: false,
};

const content: EventMeaning = { kind: 'content' };
const alive: EventMeaning = { kind: 'alive' };
const nothing: EventMeaning = { kind: 'nothing' };

function meaningOf({ value }: StreamEvent): EventMeaning {
  if (!isObject(value)) return nothing;
  const error = value.error ? errorIn(value) : null;
  if (error) return { kind: 'error', error };
  if ('contentBlockStart' in value || 'contentBlockDelta' in value || 'messageStop' in value) return content;
  return 'messageStart' in value ? alive : nothing;
}

/** Ends with `metadata`, after `messageStop`. A stream that ends between the two lacks only its usage. */
class ConverseWatch implements StreamWatch {
  readonly missingEnd = '';
  #hasStopped = false;
  #hasMetadata = false;
  #hasFailed = false;

  note({ value }: StreamEvent): void {
    if (!isObject(value)) return;
    this.#hasStopped ||= isObject(value.messageStop) && Boolean(value.messageStop.stopReason);
    this.#hasMetadata ||= 'metadata' in value;
    this.#hasFailed ||= Boolean(value.error);
  }

  counted(): void {}

  get isComplete(): boolean {
    return this.#hasFailed || this.#hasStopped;
  }

  get hasFinished(): boolean {
    return this.#hasStopped;
  }

  get saysWhy(): boolean {
    return this.#hasStopped;
  }

  get mayContinue(): boolean {
    return !this.#hasFailed && !this.#hasMetadata;
  }

  get isWhole(): boolean {
    return this.#hasStopped && !this.#hasFailed;
  }

  ending(close: StreamClose): StreamEnd | null {
    if (this.#hasFailed) return 'failed';
    return this.#hasStopped && (this.#hasMetadata || close === 'ended') ? 'complete' : null;
  }

  errorEvent(error: ErrorBody): string {
    return `data: ${writeBedrockError(error)}\n\n`;
  }
}

const fields = [...conversationFields, ...sessionFields, 'inferenceConfig', 'serviceTier'] as const;

type ConverseField = (typeof fields)[number];

export const converseRequest: RequestFormat<ConverseField> = {
  fields,
  answersAsked: () => 1,
  answersPaid: () => 1,
  isTextAsked: () => false,
  isOneText: () => false,
  isBackground: () => false,
  wantsUsage: () => true,
  conversationOf,
  temperatureOf: ({ inferenceConfig }) => (isObject(inferenceConfig) ? inferenceConfig.temperature : undefined),
  supportsPrefill: false,
};

const whole: WholeFormat = {
  kind: 'json',
  members: ['output'],
  isNeverLonger: true,
  maxHeldBytes: 32 * 1024 * 1024,
  isNumbers: false,
  judge: (answer) => judgeError(answer, isObject(answer.output)),
};

export function judgeError(answer: Record<string, unknown>, isAnswer: boolean): Verdict {
  const error = isAnswer ? null : errorIn(answer);
  return error ? { kind: 'error', status: statusOfError(error), error } : { kind: 'answer' };
}

/** Converse and ConverseStream of Amazon Bedrock. */
export const converse: Wire<ConverseField> = {
  name: 'bedrock-converse',
  operation: 'chat',
  request: converseRequest,
  whole,
  errorName: 'type',
  usage: converseUsage,
  stream: converseStream,
  rescue: null,
};

/** Writes an error in this wire's format. No client reads it: it is translated for each. */
function writeBedrockError({ message, type }: Pick<ErrorBody, 'message' | 'type'>): string {
  return JSON.stringify({ error: { type, message } });
}
