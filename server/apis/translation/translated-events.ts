/** Translates one stream from an upstream for a client of another API. */
import { GatewayError } from '../../contract/errors.ts';
import type { StreamEvent } from '../core/stream-format.ts';
import { TextMatch } from '../core/wire.ts';
import {
  type AnswerContext,
  type EventParser,
  type EventRenderer,
  malformedCall,
} from '../neutral/answers/wire-translation.ts';
import type { ClientApi } from '../neutral/client-api.ts';
import type { Seal } from '../neutral/conversation.ts';
import { GrowingText, isTooDeep } from '../neutral/json-text.ts';
import type { Loss } from '../neutral/losses.ts';
import type { AnswerError, AnswerEvent, DeltaEvent } from '../neutral/neutral-answer.ts';
import { isUnbound } from '../neutral/requests/carried-reasoning.ts';
import { EventsForClient } from './events-for-client.ts';
import { type KeptReasoning, ReasoningCollector } from './kept-reasoning.ts';

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

/** In characters. About 128,000 tokens, the output limit of today's largest models. */
const maxLength = 512 * 1024;

/**
 * Only text can be combined from two answers. A tool call that has begun cannot: its arguments would come from two
 * models. Signed reasoning cannot either: the signature covers the answer of the model that was cut off.
 */
const harmless: ReadonlySet<AnswerEvent['type']> = new Set([
  'start',
  'text',
  'thinking',
  'usage',
  'foreign',
  'citation',
]);

const alwaysPassed: ReadonlySet<AnswerEvent['type']> = new Set(['usage', 'error', 'citation']);

/** The content that a client has received of a translated stream, so that another attempt can continue it. */
export class PartialAnswer {
  #text = new GrowingText();
  #isPlain = true;

  take(event: AnswerEvent): void {
    if (event.type === 'text') {
      this.#text.add(event.text);
      this.#limit();
    } else if (!harmless.has(event.type) && !(event.type === 'seal' && isUnbound(event.seal))) this.#isPlain = false;
  }

  /** Adds text, given as the inside of a JSON string. */
  append(escaped: string): void {
    this.#text.addEscaped(escaped);
    this.#limit();
  }

  /**
   * The text, if the client has received nothing but text and unsigned thoughts; null if the answer cannot be
   * continued.
   */
  get text(): string | null {
    return this.#isPlain ? this.#text.text : null;
  }

  #limit(): void {
    if (this.#text.length <= maxLength || this.#text.text.length <= maxLength) return;
    this.#isPlain = false;
    this.#text = new GrowingText();
  }
}

/** Reduces another attempt's answer to the part that the client lacks. */
export class AnswerRemainder {
  readonly #match: TextMatch;

  /** @param text the text that the client has received */
  constructor(text: string) {
    this.#match = new TextMatch(text, false);
  }

  /** Whether the answer extends beyond the text that the client has; everything that follows is for the client. */
  get hasBegun(): boolean {
    return this.#match.isBeyond;
  }

  /** Whether the answer contradicts the text that the client has. */
  get isDifferent(): boolean {
    return this.#match.isDifferent;
  }

  /**
   * The part of the event that is for the client; null if there is none. Reasoning is not passed on, because the
   * client's text resulted from other reasoning.
   */
  take(event: AnswerEvent): AnswerEvent | null {
    if (this.isDifferent) return null;
    if (this.hasBegun || alwaysPassed.has(event.type)) return event;
    if (event.type === 'text') {
      const more = this.#match.take(event.text, false);
      return more === null ? null : { type: 'text', text: more };
    }
    if (harmless.has(event.type) || event.type === 'seal') return null;
    return this.#match.take('', true) === null ? null : event;
  }
}

type SealEvent = Extract<AnswerEvent, { type: 'seal' }>;

/**
 * Keeps seals in an order that clients understand. Gemini signs a text after it, and OpenRouter may tell details after
 * the calls. To a client whose APIs have a block for each thought, such a seal would be an empty thought after the
 * text, and the end of the answer: Claude Code prints the last block, which is then nothing. So it waits for the next
 * thought or call. If none comes it is not passed on; `ReasoningCollector` has it if the answer has calls.
 */
export class SealOrder {
  readonly #takesLateSeals: boolean;
  /** Puts the seal of a text that is complete before it; false if it cannot. */
  readonly #sealText: (seal: Seal) => boolean;
  #waiting: SealEvent[] = [];
  #isThinking = false;
  #hasSpoken = false;
  #hasCalled = false;

  constructor({ takesLateSeals }: ClientApi, sealText: (seal: Seal) => boolean = () => false) {
    this.#takesLateSeals = takesLateSeals;
    this.#sealText = sealText;
  }

  /** The events to render in place of this one. */
  take(event: AnswerEvent): readonly AnswerEvent[] {
    switch (event.type) {
      case 'seal':
        return this.#takeSeal(event);
      case 'thinking':
        this.#isThinking = true;
        return this.#afterWaiting(event);
      case 'call':
        this.#hasCalled = true;
        return this.#afterSpeaking(this.#afterWaiting(event));
      case 'text':
      case 'refusal':
      case 'media':
        return this.#afterSpeaking(this.#waiting.some(sealsOther) ? [event] : this.#afterWaiting(event));
      default:
        return [event];
    }
  }

  /** Whether a seal has been dropped for good. To be asked at the answer's end. */
  get hasLost(): boolean {
    return this.#waiting.length > 0 && !this.#hasCalled;
  }

  #takeSeal(event: SealEvent): readonly AnswerEvent[] {
    const isInPlace = this.#takesLateSeals || this.#isThinking || !this.#hasSpoken;
    this.#isThinking = false;
    if (isInPlace) return [event];
    const isCallsOwn = event.call !== undefined;
    if (!isCallsOwn && !(sealsOther(event) && this.#sealText(event.seal))) this.#waiting.push(event);
    return [];
  }

  #afterWaiting(event: AnswerEvent): readonly AnswerEvent[] {
    if (this.#waiting.length === 0) return [event];
    const events = [...this.#waiting, event];
    this.#waiting = [];
    return events;
  }

  #afterSpeaking(events: readonly AnswerEvent[]): readonly AnswerEvent[] {
    this.#isThinking = false;
    this.#hasSpoken = true;
    return events;
  }
}

/** Whether it belongs to what came before it. Others are thoughts themselves, of which the provider shows nothing. */
function sealsOther({ seal: { kind, isOfCall } }: SealEvent): boolean {
  return isOfCall !== true && (kind === 'thought-signature' || kind === 'members');
}
