/** What is known when an answer comes that was asked for in another API's words. */
import { isObject } from '../contract/is-object.ts';
import { type CallIdRule, CallIds } from './call-ids.ts';
import { parseJson } from './json-text.ts';
import type { Losses } from './losses.ts';
import type { Conversation, Origin, Seal, WireName } from './neutral.ts';
import type { AnswerError, Stop } from './neutral-answer.ts';
import type { ToolNames } from './tool-names.ts';

/** Everything that an answer's translation needs to know of its request. */
export interface AnswerContext {
  conversation: Conversation;
  names: ToolNames;
  /** Who seals what comes. */
  origin: Origin;
  /** The tool whose arguments are the answer. */
  answerTool?: string | undefined;
  /** Tokens of the request, about; for clients that are told before the upstream tells. */
  estimatedInputTokens: number;
  /** Seconds since 1970: the only thing in an answer that its own bytes do not tell. */
  createdAt: number;
  /** How the answer is known to a Responses client; absent: by the upstream's id, and it is not kept. */
  identity?: ResponseIdentity | undefined;
  losses: Losses;
}

export interface ResponseIdentity {
  id: string;
  /** It can be continued and retrieved by its id. */
  isKept: boolean;
  /** Of the response that it continues. */
  previousId: string | null;
}

const idRules: Record<WireName, CallIdRule> = {
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  'anthropic-messages': 'anthropic',
  'gemini-generate': 'any',
};

/** Ids for the calls of an answer that no call of the conversation has, within the rules of the client's API. */
export function answerCallIds({ turns, wire }: Conversation): CallIds {
  const used = turns.flatMap(({ parts }) => parts.filter((part) => part.type === 'call').map(({ id }) => id));
  return new CallIds(idRules[wire], used);
}

export function sealedBy(origin: Origin, seal: Seal): Seal {
  return { ...seal, origin };
}

/** Calls of the other two have a member for the seal; here it stands in a thought before the call. */
export function hasNoSealedCalls(wire: WireName): boolean {
  return wire === 'anthropic-messages' || wire === 'openai-responses';
}

/** APIs whose clients are given arguments as an object, or parse them without asking whether they are whole. */
export function wantsWholeArguments(wire: WireName): boolean {
  return wire === 'anthropic-messages' || wire === 'gemini-generate';
}

export function isWholeObject(given: string): boolean {
  return isObject(parseJson(given));
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

/** Gemini has no reason for calls, and OpenAI says `stop` after a forced one. */
export function settledStop(stop: Stop, hasCalls: boolean): Stop {
  if (stop.reason === 'end' && hasCalls) return { ...stop, reason: 'tool' };
  return stop.reason === 'tool' && !hasCalls ? { ...stop, reason: 'end' } : stop;
}
