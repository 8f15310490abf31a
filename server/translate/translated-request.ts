/** One request in the format of an upstream's API, with the data needed to read its answer. */
import type { AnswerContext, ResponseIdentity } from './answer-context.ts';
import { answerEvents } from './answer-events.ts';
import { answerForClient } from './answer-for-client.ts';
import { estimateInputTokens } from './estimate-input.ts';
import { isTooDeep, parseJson, writeJson } from './json-text.ts';
import { type KeptReasoning, ReasoningCollector } from './kept-reasoning.ts';
import { type Loss, Losses } from './losses.ts';
import type { Conversation } from './neutral.ts';
import type { Answer, AnswerError } from './neutral-answer.ts';
import type { RenderedRequest, Target } from './rendering.ts';
import { TranslatedEvents } from './translated-events.ts';
import type { ClientTranslation, UpstreamTranslation } from './wire-translation.ts';

export type WholeAnswer =
  | {
      ok: true;
      body: Buffer;
      /** Parts of the answer that the client's API cannot express. */
      losses: readonly Loss[];
      /** Reasoning that must be returned with the answer's calls; null if there is none. */
      reasoning: KeptReasoning | null;
    }
  | {
      ok: false;
      error: AnswerError;
      /** A retry would have the same result, so the error is the client's answer. */
      isFinal?: true;
    };

interface Asked {
  conversation: Conversation;
  target: Target;
  rendered: RenderedRequest;
  losses: readonly Loss[];
}

/** Inputs of an answer's translation that are not in its bytes. */
export interface Moment {
  /** Seconds since 1970. */
  createdAt: number;
  /** Absent unless the client uses Responses. */
  identity?: ResponseIdentity | undefined;
}

export class TranslatedRequest {
  /** The body for the upstream. */
  readonly body: Buffer;
  /** Losses of the request, in the client's notation. */
  readonly losses: readonly Loss[];
  readonly #asked: Asked;
  readonly #client: ClientTranslation;
  readonly #upstream: UpstreamTranslation;

  constructor([client, upstream]: [ClientTranslation, UpstreamTranslation], asked: Asked) {
    this.body = Buffer.from(writeJson(asked.rendered.body));
    this.losses = asked.losses;
    this.#asked = asked;
    this.#client = client;
    this.#upstream = upstream;
  }

  /** Translates a whole answer for a client that expects one. Null if it is not an answer of the upstream's API. */
  whole(body: Buffer, moment: Moment): WholeAnswer | null {
    const answer = this.#parse(body);
    if (answer === null) return null;
    const context = this.#context(moment);
    const result = answerForClient(answer, context);
    if (!result.ok) return result;
    const rendered = this.#client.renderAnswer(result.answer, context);
    const collector = new ReasoningCollector();
    for (const event of answerEvents(result.answer)) collector.take(event);
    const told = Buffer.from(writeJson(rendered));
    return { ok: true, body: told, losses: context.losses.list, reasoning: collector.kept };
  }

  /** Converts the upstream's whole answer for a client that waits for a stream (nyroway/nyro#182). */
  wholeAsEvents(body: Buffer, moment: Moment, events = this.events(moment)): Buffer | null {
    const answer = this.#parse(body);
    if (answer === null) return null;
    return Buffer.concat(answerEvents(answer).map((event) => events.translate(event)));
  }

  events(moment: Moment): TranslatedEvents {
    const context = this.#context(moment);
    const turns = this.#asked.conversation.turns.length;
    return new TranslatedEvents(this.#upstream.eventParser(turns), this.#client.eventRenderer(context), context);
  }

  #parse(body: Buffer): Answer | null {
    const answer = parseJson(body.toString());
    return isTooDeep(answer) ? null : this.#upstream.parseAnswer(answer, this.#asked.conversation.turns.length);
  }

  #context({ createdAt, identity }: Moment): AnswerContext {
    const { conversation, target, rendered } = this.#asked;
    const { names, answerTool } = rendered;
    const estimatedInputTokens = estimateInputTokens(conversation);
    return {
      conversation,
      names,
      answerTool,
      origin: target.origin,
      estimatedInputTokens,
      createdAt,
      identity,
      losses: new Losses(),
    };
  }
}
