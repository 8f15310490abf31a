/** The wire of Bedrock's Converse API: requests, whole answers and streams. */
import type { ErrorBody } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import type { Usage } from '../../contract/ledger.ts';
import { statusOfError } from '../core/errors/error-names.ts';
import { conversationFields, conversationOf, sessionFields } from '../core/requests/client-session.ts';
import { sseFraming } from '../core/sse-framing.ts';
import type {
  EventMeaning,
  StreamClose,
  StreamEnd,
  StreamEvent,
  StreamFormat,
  StreamWatch,
} from '../core/stream-format.ts';
import { errorIn } from '../core/upstream-error.ts';
import { conversationUsage } from '../core/usage/conversation-usage.ts';
import { fieldsAt, tierNamed } from '../core/usage/price-terms.ts';
import {
  countOf,
  reportedUsage,
  sumOfCounts,
  type UsageReports,
  usageBesideCache,
} from '../core/usage/reported-usage.ts';
import type { RequestFormat, RequestView, Verdict, WholeFormat, Wire } from '../core/wire.ts';

// Usage of requests of Bedrock's Converse API.

/** Streams report it in `metadata`, their last event. */
export const converseReports: UsageReports = {
  name: 'usage',
  places: [['metadata', 'usage']],
  isComplete: () => true,
  toUsage,
};

export const converseUsage = conversationUsage({
  allowedTokens,
  answersPaid: () => 1,
  members: { prompts: ['system', 'messages'], schemas: ['toolConfig'] },
  // The limit of gpt-oss, the largest model that is used this way.
  unknownOutputTokens: 131_072,
  reported: (answer) => reportedUsage(answer, converseReports),
  asks: (body: RequestView<'inferenceConfig' | 'serviceTier'>) => {
    const tier = body.field('serviceTier');
    return { tier: isObject(tier) ? tierNamed(tier.type) : null };
  },
  termsOf: (object) => ({ tier: tierIn(object) ?? tierIn(fieldsAt(object, 'metadata')), searches: 0 }),
  facts: {
    temperature: [['inferenceConfig', 'temperature']],
    maxTokens: [['inferenceConfig', 'maxTokens']],
    // It names neither itself nor its model.
    whole: { id: [], model: [], finishReason: [['stopReason']] },
    event: { id: [], model: [], finishReason: [['messageStop', 'stopReason']] },
  },
});

function allowedTokens(body: RequestView<'inferenceConfig'>): number | null {
  const config = body.field('inferenceConfig');
  const maxTokens = isObject(config) ? config.maxTokens : undefined;
  return typeof maxTokens === 'number' && maxTokens > 0 ? Math.ceil(maxTokens) : null;
}

/**
 * Input tokens exclude those that are read from a cache, or written to one; output tokens include thinking, which is not
 * counted separately. `cacheDetails`: `[{"inputTokens":100,"ttl":"1h"}]`.
 */
function toUsage(fields: Record<string, unknown>): Usage | null {
  const writtenByTtl = sumOfCounts(fields.cacheDetails, 'inputTokens', () => true);
  return usageBesideCache({
    input: countOf(fields.inputTokens),
    cacheRead: countOf(fields.cacheReadInputTokens) ?? 0,
    cacheWritten: countOf(fields.cacheWriteInputTokens) ?? writtenByTtl,
    writtenForAnHour: sumOfCounts(fields.cacheDetails, 'inputTokens', ({ ttl }) => ttl === '1h'),
    output: countOf(fields.outputTokens),
  });
}

const tierIn = (object: Record<string, unknown>) => tierNamed(fieldsAt(object, 'serviceTier').type);

// Requests, whole answers and streams.

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
