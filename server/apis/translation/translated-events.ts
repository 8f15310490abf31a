/** Translates one stream from an upstream for a client of another API. */
import { GatewayError } from '../../contract/errors.ts';
import type { StreamEvent } from '../core/sse-event.ts';
import { type AnswerContext, malformedCall } from '../neutral/answers/answer-context.ts';
import type { EventParser, EventRenderer } from '../neutral/answers/wire-translation.ts';
import { isTooDeep } from '../neutral/json-text.ts';
import type { Loss } from '../neutral/losses.ts';
import type { AnswerError, AnswerEvent, DeltaEvent } from '../neutral/neutral-answer.ts';
import { EventsForClient } from './events-for-client.ts';
import { type KeptReasoning, ReasoningCollector } from './kept-reasoning.ts';
import { AnswerRemainder, PartialAnswer } from './partial-answer.ts';
import { SealOrder } from './seal-order.ts';

export class TranslatedEvents {
  readonly #parser: EventParser;
  #renderer: EventRenderer;
  readonly #view: EventsForClient;
  readonly #context: AnswerContext;
  readonly #reasoning = new ReasoningCollector();
  readonly #order: SealOrder;
  readonly #soFar = new PartialAnswer();
  /** Set if the client has received the beginning of the answer from another attempt. */
  #rest: AnswerRemainder | null = null;
  /** The text added by the latest event, if it did nothing else. */
  #delta: DeltaEvent | null = null;
  #renderedCount = 0;
  #isOver = false;
  #failure: AnswerError | null = null;
  /** Anything for the client has come: thoughts, too. */
  #hasContent = false;

  constructor(parser: EventParser, renderer: EventRenderer, context: AnswerContext) {
    this.#parser = parser;
    this.#renderer = renderer;
    this.#view = new EventsForClient(context);
    this.#context = context;
    this.#order = new SealOrder(context.conversation.client);
  }

  /** The text from which another attempt can continue the client's stream; null if it cannot be continued. */
  get textSoFar(): string | null {
    return this.#soFar.text;
  }

  /** Continues the client's stream of `earlier`, which broke. Must be called before the first event. */
  continue(earlier: TranslatedEvents): void {
    const text = earlier.textSoFar ?? '';
    this.#renderer = earlier.#renderer;
    this.#view.continue(earlier.#view);
    this.#soFar.take({ type: 'text', text });
    this.#rest = new AnswerRemainder(text);
  }

  /** Whether the answer contradicts what the client has received from another attempt. */
  get isDifferent(): boolean {
    return this.#rest?.isDifferent ?? false;
  }

  /** Translates one event; returns an empty buffer if nothing can be sent yet. */
  push(event: StreamEvent): Buffer {
    return Buffer.from(this.write(event));
  }

  /**
   * Like `push`, but returns text for callers that join many results: encoding one long text is cheaper than many
   * short.
   */
  write(event: StreamEvent): string {
    this.#delta = null;
    this.#renderedCount = 0;
    return this.#renderAll(this.#parse(event));
  }

  /**
   * The text, thought or call arguments that the latest event added, as the upstream wrote them; null if the event did
   * more than that.
   */
  get onlyDelta(): DeltaEvent | null {
    const isAll = this.#renderedCount === 1 && !this.#view.isRewriting && this.#parser.hasHeldBack !== true;
    return isAll ? this.#delta : null;
  }

  /** Renders more of `onlyDelta`, given as the inside of a JSON string. Null if `write` must be used instead. */
  writeMore(escaped: string): string | null {
    const delta = this.#delta;
    const rendered = delta && this.#renderer.renderDelta(delta, escaped);
    if (delta === null || rendered === null) return null;
    this.#parser.takeMore?.(delta.type, escaped);
    if (delta.type === 'text') {
      this.#soFar.append(escaped);
      this.#view.takeMoreText(escaped);
    } else this.#reasoning.takeMore(delta, escaped);
    if (delta.type === 'arguments') this.#view.takeMoreArguments(escaped);
    return rendered;
  }

  /** Processes only the usage of an event whose text was rendered by `writeMore`. */
  takeUsage(event: StreamEvent): void {
    this.#renderAll(this.#parse(event).filter(({ type }) => type === 'usage'));
  }

  /** Called when the upstream's connection has ended regularly; `isOver` then shows whether the answer was complete. */
  end(): Buffer {
    return Buffer.from(this.#renderAll(this.#parser.end()));
  }

  /** Ends the client's stream with an error event in place of the missing rest. */
  fail(error: AnswerError): Buffer {
    this.#isOver = true;
    this.#failure = error;
    return Buffer.from(this.#renderer.fail(error));
  }

  translate(event: AnswerEvent): Buffer {
    return Buffer.from(this.#renderAll([event]));
  }

  /** Sent while the stream is silent. */
  get ping(): Buffer {
    return Buffer.from(this.#renderer.ping);
  }

  /** How many events wait for the end of a call. */
  get delayedEvents(): number {
    return this.#view.delayedEvents;
  }

  /** Whether the answer is complete or has failed; nothing follows. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The whole answer as one object, once it is complete; null for APIs whose streams do not contain it. */
  get whole(): Record<string, unknown> | null {
    return this.#renderer.whole ?? null;
  }

  /** The error that was sent to the client in place of the missing rest; null if nothing is missing. */
  get failure(): AnswerError | null {
    return this.#failure;
  }

  /** The answer is nothing but a call that its provider could not read. */
  get isMalformedCall(): boolean {
    return this.#failure === malformedCall && !this.#hasContent;
  }

  /** Reasoning that must be returned with the answer's calls so far; null if there is none. */
  get reasoning(): KeptReasoning | null {
    return this.#reasoning.kept;
  }

  /** Parts of the answer so far that the client's API cannot express. */
  get losses(): readonly Loss[] {
    return this.#context.losses.list;
  }

  /** @throws GatewayError `upstream_malformed` for an event that could not be written again */
  #parse(event: StreamEvent): AnswerEvent[] {
    if (isTooDeep(event.value)) throw new GatewayError('upstream_malformed', 'an event is nested too deeply');
    return this.#parser.push(event);
  }

  #renderAll(events: readonly AnswerEvent[]): string {
    let text = '';
    for (const each of events) {
      for (const event of this.#view.push(each)) {
        this.#reasoning.take(event);
        for (const placed of this.#order.take(event)) text += this.#renderRemainder(placed);
        if (event.type === 'end' && this.#order.hasLost)
          this.#context.losses.dropped('thought_signature', 'provider-item');
      }
    }
    return text;
  }

  #renderRemainder(event: AnswerEvent): string {
    const remainder = this.#rest === null ? event : this.#rest.take(event);
    return remainder === null ? '' : this.#render(remainder);
  }

  #render(event: AnswerEvent): string {
    this.#soFar.take(event);
    if (event.type !== 'usage') {
      this.#renderedCount++;
      this.#delta = isDelta(event) ? event : null;
    }
    this.#hasContent ||= contentTypes.has(event.type);
    this.#isOver ||= event.type === 'end' || event.type === 'error';
    if (event.type === 'error') this.#failure = event.error;
    return this.#renderer.push(event);
  }
}

const contentTypes = new Set<AnswerEvent['type']>(['text', 'refusal', 'thinking', 'call', 'media']);

function isDelta(event: AnswerEvent): event is DeltaEvent {
  return event.type === 'text' || event.type === 'thinking' || event.type === 'arguments';
}
