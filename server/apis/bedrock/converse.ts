import { isObject } from '../../contract/is-object.ts';
import { statusOfError } from '../core/errors/error-names.ts';
import { sessionFields } from '../core/requests/client-session.ts';
import { conversationFields, conversationOf } from '../core/requests/conversation-id.ts';
import { errorIn } from '../core/upstream-error.ts';
import type { RequestFormat, Verdict, WholeFormat, Wire } from '../core/wire.ts';
import { converseStream } from './converse-stream.ts';
import { converseUsage } from './usage.ts';

const fields = [...conversationFields, ...sessionFields, 'inferenceConfig', 'serviceTier'] as const;

export type ConverseField = (typeof fields)[number];

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
  marks: ['"output"'],
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
