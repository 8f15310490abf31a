/** What each wire that can be translated offers: both directions of requests, whole answers, streams and errors. */
import type { StreamEvent } from '../wire/sse-event.ts';
import type { AnswerContext } from './answer-context.ts';
import type { Losses } from './losses.ts';
import type { Conversation } from './neutral.ts';
import type { Answer, AnswerError, AnswerEvent } from './neutral-answer.ts';
import type { RenderedRequest, Target } from './rendering.ts';

/** Follows one stream of an upstream. */
export interface EventParser {
  push(event: StreamEvent): AnswerEvent[];
  /** The stream has ended in good order as far as its connection goes: what it has not said can be told from that. */
  end(): AnswerEvent[];
}

/** Writes one stream for a client. */
export interface EventRenderer {
  push(event: AnswerEvent): string;
  /** What makes the API's clients raise the error, at this place of the stream. */
  fail(error: AnswerError): string;
  /** Keeps a silent stream alive. */
  readonly ping: string;
  /** The whole answer, once it is complete, where the API's stream ends with it. */
  readonly whole?: Record<string, unknown> | null;
}

export interface WireTranslation {
  /** @throws GatewayError `invalid_value` */
  parseRequest(body: unknown, losses: Losses): Conversation;
  /** @throws GatewayError `invalid_value` */
  renderRequest(conversation: Conversation, target: Target, losses: Losses): RenderedRequest;
  /** Null for what is no answer. `turns`: how many the conversation has, for ids that the upstream does not give. */
  parseAnswer(body: unknown, turns: number): Answer | null;
  renderAnswer(answer: Answer, context: AnswerContext): Record<string, unknown>;
  /** An error in place of an answer. @param upstreamStatus what the upstream answered with */
  renderError(error: AnswerError, upstreamStatus: number): { status: number; body: string };
  eventParser(turns: number): EventParser;
  eventRenderer(context: AnswerContext): EventRenderer;
}
