/** The interface of a wire that can be translated: requests, whole answers, streams and errors. */

import { isObject } from '../../../contract/is-object.ts';
import type { ToldError } from '../../core/errors/verdict.ts';
import type { StreamEvent } from '../../core/stream-format.ts';
import type { ClientApi } from '../client-api.ts';
import type { Conversation, Origin } from '../conversation.ts';
import { parseLosslessJson } from '../json-text.ts';
import type { Loss, Losses } from '../losses.ts';
import type { Answer, AnswerError, AnswerEvent, DeltaEvent, Stop } from '../neutral-answer.ts';
import { CallIds, type RenderedRequest, type Target, type ToolNames } from '../requests/rendering.ts';

/** Parses one stream of an upstream. */
export interface EventParser {
  push(event: StreamEvent): AnswerEvent[];
  /** More of the only text that the latest event added, of this kind, given as the inside of a JSON string. */
  takeMore?(kind: DeltaEvent['type'], escaped: string): void;
  /** Called when the connection has ended regularly. Decides by the events received whether the answer is complete. */
  end(): AnswerEvent[];
  /** The latest event brought more than its answer's events say, which a later one will contain. */
  readonly hasHeldBack?: boolean;
}

/** Renders one stream for a client. */
export interface EventRenderer {
  push(event: AnswerEvent): string;
  /** The event by which the API's clients recognise the error, at this position in the stream. */
  fail(error: AnswerError): string;
  /**
   * Renders more of a text, thought or call's arguments, given as the inside of a JSON string. Streams consist almost
   * only of these. Null if it must be rendered by `push`.
   * @param latest the latest event rendered
   */
  renderDelta(latest: DeltaEvent, escaped: string): string | null;
  /** Keeps a silent stream alive. */
  readonly ping: string;
  /** The whole answer once it is complete, if the API's stream ends with it. */
  readonly whole?: Record<string, unknown> | null;
}

/** A small call that shows whether a model answers. */
export interface TrialCall {
  /** Below the base URL; `{model}` stands for the model. */
  path: string;
  body(asked: { model: string; prompt: string; maxOutputTokens: number }): Record<string, unknown>;
  /** A member that every answer has and no error has. */
  answerMember: string;
}

/** A wire that clients use. */
export interface ClientTranslation {
  readonly client: ClientApi;
  /** @throws GatewayError `invalid_value` that names the invalid field */
  parseRequest(body: unknown, losses: Losses): Conversation;
  renderAnswer(answer: Answer, context: AnswerContext): Record<string, unknown>;
  /** Renders an error in place of an answer. */
  renderError(error: ToldError): { status: number; body: string };
  eventRenderer(context: AnswerContext): EventRenderer;
  /** What the API's own headers ask for that no other API has. Absent if it has no such headers. */
  headerLosses?(headers: Readonly<Record<string, string>>): Loss[];
  /**
   * The body of a request without its reasoning, which a provider has refused. Null if there is none, so that a retry
   * would not help; absent if it is enough to leave out the seals.
   */
  withoutReasoning?(body: Buffer): Buffer | null;
}

/** A wire by which providers are called. */
export interface UpstreamTranslation {
  readonly trial: TrialCall;
  /** The response header that identifies an answer, if its body does not. */
  readonly answerIdHeader?: string;
  /** @throws GatewayError `invalid_value` if the upstream's API cannot express the conversation */
  renderRequest(conversation: Conversation, target: Target, losses: Losses): RenderedRequest;
  /** A whole answer as the values of the events by which it would have been streamed; null if the body is not an answer. */
  wholeEvents(body: unknown): unknown[] | null;
  /** @param turns length of the conversation, for ids that the upstream does not provide */
  eventParser(turns: number): EventParser;
}

export interface WireTranslation extends ClientTranslation, UpstreamTranslation {}

// Context for translating an answer, derived from its request.

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
