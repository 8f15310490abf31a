/** The interface of a wire that can be translated: requests, whole answers, streams and errors. */
import type { ToldError } from '../../core/errors/verdict.ts';
import type { StreamEvent } from '../../core/sse-event.ts';
import type { ClientApi } from '../client-api.ts';
import type { Conversation } from '../conversation.ts';
import type { Loss, Losses } from '../losses.ts';
import type { Answer, AnswerError, AnswerEvent, DeltaEvent } from '../neutral-answer.ts';
import type { RenderedRequest, Target } from '../requests/rendering.ts';
import type { AnswerContext } from './answer-context.ts';

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
