/** Parses the stream of a chat completion. */
import { isObject } from '../../../contract/is-object.ts';
import { tellErrorWithin } from '../../core/errors/verdict.ts';
import type { StreamEvent } from '../../core/sse-event.ts';
import { append } from '../../neutral/answers/growing-text.ts';
import { EventUsage } from '../../neutral/answers/token-usage.ts';
import type { EventParser } from '../../neutral/answers/wire-translation.ts';
import type { AnswerError, AnswerEvent, DeltaEvent, StopReason } from '../../neutral/neutral-answer.ts';
import { annotationEvent, listedSources } from '../url-citations.ts';
import { plainReports } from '../usage/usage-shapes.ts';
import { chatErrorIn } from '../wire/write-error.ts';
import { CallFragments } from './call-fragments.ts';
import {
  calledIn,
  hasSaid,
  isText,
  objectsIn,
  ProviderMembers,
  picturesOf,
  plainSeal,
  saidIn,
  thoughtIn,
  thoughtInDetails,
} from './parse-message.ts';
import { isFailure, parseFinishReason } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

export class ChatEventParser implements EventParser {
  readonly #usage = new EventUsage(plainReports);
  readonly #calls: CallFragments;
  readonly #members = new ProviderMembers();
  #id = '';
  hasHeldBack = false;
  /** Calls in the form of today have come; the older form beside them repeats one. */
  #hasCalls = false;
  /** Anything of the answer has come. */
  #hasContent = false;
  #hasBegun = false;
  #isThinking = false;
  /** Whether thoughts come as text, so that details only repeat it. */
  #isThoughtTold = false;
  #isOver = false;
  #stop: StopReason | null = null;
  #hasFailed = false;
  /** Told at the end, when all of the text is there to which they refer. */
  readonly #annotations: Json[] = [];
  /** The latest chunk that lists sources beside its choices. */
  #listing: Json | null = null;
  /** Only one choice is asked for. If more come, in whatever order, the first one seen is the answer. */
  #choice: unknown;

  constructor(turns: number) {
    this.#calls = new CallFragments(turns);
  }

  push({ data, value }: StreamEvent): AnswerEvent[] {
    this.hasHeldBack = false;
    if (this.#isOver) return [];
    if (data === '[DONE]') return this.end();
    if (!isObject(value)) return [];
    const error = chatErrorIn(value);
    if (error) return [{ type: 'error', error: tellErrorWithin(error) }];
    const events: AnswerEvent[] = [];
    const choice = objectsIn(value.choices).find(({ index }) => this.#isAnswer(index));
    // Azure's first chunk has neither a choice nor an id.
    if (!this.#hasBegun && choice) {
      this.#hasBegun = true;
      this.#id = isText(value.id) ? value.id : '';
      events.push({ type: 'start', id: this.#id });
    }
    if (choice) this.#takeChoice(choice, events);
    if (value.search_results || value.citations) this.#listing = value;
    events.push(...this.#usage.eventsOf(value));
    return events;
  }

  /**
   * An answer with a `finish_reason` is complete, whether `[DONE]` follows or not. Without one, `[DONE]` may come from a proxy whose
   * upstream broke off.
   */
  end(): AnswerEvent[] {
    return this.#stop === null ? [] : this.#finish();
  }

  takeMore(kind: DeltaEvent['type'], escaped: string): void {
    if (kind === 'arguments') this.#calls.takeMore(escaped);
  }

  /** The reason is told only now, because services may give one with each piece. */
  #finish(): AnswerEvent[] {
    if (this.#isOver || !this.#hasBegun) return [];
    this.#isOver = true;
    const events: AnswerEvent[] = [];
    this.#endThinking(events);
    if (this.#hasFailed) return [...events, { type: 'error', error: failedWithin }];
    const stop = { reason: this.#stop ?? ('end' as const) };
    return [...events, ...this.#calls.end(), ...this.#sources(), { type: 'stop', stop }, { type: 'end' }];
  }

  #sources(): AnswerEvent[] {
    const sources = this.#annotations.map((annotation) => annotationEvent(annotation));
    return this.#listing === null ? sources : [...sources, ...listedSources(this.#listing, sources)];
  }

  #isAnswer(index: unknown): boolean {
    if (typeof index === 'number') this.#choice ??= index;
    return typeof index !== 'number' || index === this.#choice;
  }

  #takeChoice(choice: Json, events: AnswerEvent[]): void {
    const { delta, finish_reason: reason } = choice;
    const before = events.length;
    this.#takeDelta(isObject(delta) ? delta : {}, events);
    this.#hasContent ||= events.length > before;
    // Some services end with all of the answer as a message, also if nothing of it came before.
    if (!this.#hasContent && isObject(choice.message)) {
      if (Array.isArray(choice.message.reasoning_details)) this.#members.take(this.#id);
      this.#takeDelta(choice.message, events);
    } else if (isObject(choice.message) && choice.message.annotations) {
      append(this.#annotations, objectsIn(choice.message.annotations));
    }
    if (!reason) return;
    this.#hasFailed ||= isFailure(reason);
    const stop = parseFinishReason(reason);
    if (this.#stop === null || this.#stop === 'end') this.#stop = stop;
  }

  #takeDelta(delta: Json, events: AnswerEvent[]): void {
    this.hasHeldBack = this.#members.add(delta);
    const thought = thoughtIn(delta);
    this.#isThoughtTold ||= thought !== '';
    this.#think(events, this.#isThoughtTold ? thought : thoughtInDetails(delta));
    for (const { type, text } of saidIn(delta.content)) {
      if (type === 'thinking') this.#think(events, text);
      else this.#say(events, { type, text });
    }
    if (isText(delta.refusal)) this.#say(events, { type: 'refusal', text: delta.refusal });
    for (const part of picturesOf(delta.images)) this.#say(events, { type: 'media', part });
    if (delta.annotations) append(this.#annotations, objectsIn(delta.annotations));
    for (const call of objectsIn(delta.tool_calls)) this.#takeCall(call, events);
    if (!this.#hasCalls && hasSaid(delta.function_call)) {
      this.#endThinking(events);
      events.push(...this.#calls.take({ index: 0, function: delta.function_call }));
    }
  }

  #think(events: AnswerEvent[], text: unknown): void {
    if (!isText(text)) return;
    this.#isThinking = true;
    events.push({ type: 'thinking', text });
  }

  #say(events: AnswerEvent[], event: AnswerEvent): void {
    this.#endThinking(events);
    events.push(event);
  }

  #endThinking(events: AnswerEvent[]): void {
    if (!this.#members.isEmpty) events.push({ type: 'seal', seal: this.#members.take(this.#id) });
    else if (this.#isThinking) events.push({ type: 'seal', seal: plainSeal });
    this.#isThinking = false;
  }

  #takeCall(fragment: Json, events: AnswerEvent[]): void {
    this.#hasCalls ||= hasSaid(calledIn(fragment).called);
    this.#endThinking(events);
    events.push(...this.#calls.take(fragment));
  }
}

const failedWithin: AnswerError = {
  message: 'The provider broke off its answer because of an error of its own.',
  type: 'server_error',
  code: 'upstream_stream_broken',
};

/** A whole completion as one chunk. */
export function completionEvents(body: unknown): Json[] | null {
  if (!isObject(body) || !Array.isArray(body.choices)) return null;
  const choice: Json = body.choices.find(isObject) ?? {};
  const message = isObject(choice.message) ? choice.message : {};
  const calls = objectsIn(message.tool_calls).map((call, index) => ({ ...call, index }));
  const functionCall = calls.some((call) => hasSaid(calledIn(call).called)) ? undefined : message.function_call;
  const delta = { ...message, tool_calls: calls, function_call: functionCall };
  return [
    { ...body, error: undefined, choices: [{ ...choice, delta, finish_reason: choice.finish_reason ?? 'stop' }] },
  ];
}
