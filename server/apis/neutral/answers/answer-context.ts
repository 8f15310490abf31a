/** Context for translating an answer, derived from its request. */
import { isObject } from '../../../contract/is-object.ts';
import type { Conversation, Origin } from '../conversation.ts';
import { parseLosslessJson } from '../json-text.ts';
import type { Losses } from '../losses.ts';
import type { AnswerError, Stop } from '../neutral-answer.ts';
import { CallIds, type ToolNames } from '../requests/call-ids.ts';

/** Facts about its request that the translation of an answer needs. */
export interface AnswerContext {
  conversation: Conversation;
  names: ToolNames;
  /** The provider, model and account that produced the answer; recorded with each seal. */
  origin: Origin;
  /** The tool whose arguments are the answer; absent if there is none. */
  answerTool?: string | undefined;
  /** Estimated prompt tokens, for clients that expect them before the upstream reports any. */
  estimatedInputTokens: number;
  /** Seconds since 1970. With `answerId`, the only input of a translation that is not in the bytes. */
  createdAt: number;
  /** For an answer to which the upstream gave no id of its own. */
  answerId: string;
  /** The answer's identity for a Responses client. Absent if the answer has the upstream's id and is not stored. */
  identity?: ResponseIdentity | undefined;
  losses: Losses;
}

export interface ResponseIdentity {
  id: string;
  /** Whether the response can be continued and retrieved by its id. */
  isKept: boolean;
  /** Id of the response that it continues. */
  previousId: string | null;
}

/** Assigns ids to the answer's calls: unused in the conversation, and valid in the client's API. */
export function answerCallIds({ turns, client }: Conversation): CallIds {
  const usedIds = turns.flatMap(({ parts }) => parts.filter((part) => part.type === 'call').map(({ id }) => id));
  return new CallIds(client.callIds, usedIds);
}

export function isWholeObject(callArguments: string): boolean {
  return isObject(parseLosslessJson(callArguments));
}

export function brokenArguments(name: string): AnswerError {
  const message = `The model's call of the tool ${name} broke off: its arguments are no whole JSON object.`;
  return { message, type: 'server_error', code: 'upstream_malformed' };
}

export const malformedCall: AnswerError = {
  message: 'The model called a tool in a way that its provider could not read.',
  type: 'server_error',
  code: 'upstream_malformed',
};

/** Gemini has no stop reason for tool calls, and OpenAI reports `stop` after a forced one. */
export function settledStop(stop: Stop, hasCalls: boolean): Stop {
  if (stop.reason === 'end' && hasCalls) return { ...stop, reason: 'tool' };
  return stop.reason === 'tool' && !hasCalls ? { ...stop, reason: 'end' } : stop;
}
