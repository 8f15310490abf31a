/** Parses the stream of a chat completion. */
import { isObject } from '../../../contract/is-object.ts';
import { tellErrorWithin } from '../../core/errors/verdict.ts';
import type { StreamEvent } from '../../core/sse-event.ts';
import { errorIn } from '../../core/upstream-error.ts';
import { EventUsage } from '../../neutral/answers/token-usage.ts';
import type { EventParser } from '../../neutral/answers/wire-translation.ts';
import type { AnswerEvent, StopReason } from '../../neutral/neutral-answer.ts';
import { derivedCallId } from '../../neutral/requests/call-ids.ts';
import { plainReports } from '../usage/usage-shapes.ts';
import {
  argumentsOf,
  calledIn,
  hasSaid,
  objectsIn,
  picturesOf,
  plainSeal,
  saidIn,
  thoughtSignatureOf,
} from './parse-message.ts';
import { parseFinishReason } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

/** A call, as far as its fragments have arrived. */
interface Call {
  index: number;
  id: string;
  /** Whether its name has arrived, so that its event has been emitted. */
  isAnnounced: boolean;
  /** Arguments that arrived before the name. */
  held: string;
}

export class ChatEventParser implements EventParser {
  readonly #turns: number;
  readonly #usage = new EventUsage(plainReports);
  /** By the upstream's index. */
  readonly #calls = new Map<unknown, Call>();
  #count = 0;
  #hasBegun = false;
  #isThinking = false;
  #isOver = false;
  #stop: StopReason | null = null;
  /** Only one choice is asked for. If more come, in whatever order, the first one seen is the answer. */
  #choice: unknown;

  constructor(turns: number) {
    this.#turns = turns;
  }

  push({ data, value }: StreamEvent): AnswerEvent[] {
    if (this.#isOver) return [];
    if (data === '[DONE]') return this.#finish();
    if (!isObject(value)) return [];
    if (value.error) return [{ type: 'error', error: tellErrorWithin(errorIn(value)) }];
    const events: AnswerEvent[] = [];
    const choice = objectsIn(value.choices).find(({ index }) => this.#isAnswer(index));
    // Azure's first chunk has neither a choice nor an id.
    if (!this.#hasBegun && choice) {
      this.#hasBegun = true;
      events.push({ type: 'start', id: typeof value.id === 'string' ? value.id : '' });
    }
    if (choice) this.#takeChoice(choice, events);
    events.push(...this.#usage.eventsOf(value));
    return events;
  }

  /** Like without translation, `[DONE]` may be missing: an answer with a `finish_reason` is complete. */
  end(): AnswerEvent[] {
    return this.#stop === null ? [] : this.#finish();
  }

  #finish(): AnswerEvent[] {
    if (this.#isOver || !this.#hasBegun) return [];
    this.#isOver = true;
    // The stream reports no finish reason; `[DONE]` marks it as complete.
    const stop: AnswerEvent[] = this.#stop === null ? [{ type: 'stop', stop: { reason: 'end' } }] : [];
    return [...stop, { type: 'end' }];
  }

  #isAnswer(index: unknown): boolean {
    if (typeof index === 'number') this.#choice ??= index;
    return typeof index !== 'number' || index === this.#choice;
  }

  #takeChoice(choice: Json, events: AnswerEvent[]): void {
    const delta = isObject(choice.delta) ? choice.delta : {};
    this.#think(events, delta.reasoning_content ?? delta.reasoning);
    for (const { type, text } of saidIn(delta.content)) {
      if (type === 'thinking') this.#think(events, text);
      else this.#say(events, { type, text });
    }
    if (isText(delta.refusal)) this.#say(events, { type: 'refusal', text: delta.refusal });
    for (const part of picturesOf(delta.images)) this.#say(events, { type: 'media', part });
    for (const call of objectsIn(delta.tool_calls)) this.#takeCall(call, events);
    if (hasSaid(delta.function_call)) this.#takeCall({ index: 0, function: delta.function_call }, events);
    if (!choice.finish_reason || this.#stop !== null) return;
    this.#endThinking(events);
    this.#stop = this.#hasNameless ? 'malformed' : parseFinishReason(choice.finish_reason);
    events.push({ type: 'stop', stop: { reason: this.#stop } });
  }

  /** Arguments of a call that never got a name. */
  get #hasNameless(): boolean {
    return [...this.#calls.values()].some(({ isAnnounced, held }) => !isAnnounced && held !== '');
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
    if (this.#isThinking) events.push({ type: 'seal', seal: plainSeal });
    this.#isThinking = false;
  }

  #takeCall(fragment: Json, events: AnswerEvent[]): void {
    this.#endThinking(events);
    const { isCustom, called: calledFunction } = calledIn(fragment);
    const call = this.#callOf(fragment);
    const callArguments = argumentsOf(isCustom ? calledFunction.input : calledFunction.arguments);
    if (!call.isAnnounced && isText(calledFunction.name)) {
      call.isAnnounced = true;
      const id = call.id || derivedCallId(String(this.#turns), call.index, calledFunction.name);
      const kind = isCustom ? 'custom' : 'function';
      const seal = thoughtSignatureOf(fragment);
      events.push({ type: 'call', index: call.index, id, name: calledFunction.name, kind, seal });
    }
    const text = call.held + callArguments;
    call.held = call.isAnnounced ? '' : text;
    if (call.isAnnounced && text !== '') events.push({ type: 'arguments', index: call.index, text });
  }

  /** If there is no index, or all calls have the same one, as on Gemini's endpoint, a new id begins a new call. */
  #callOf({ index, id }: Json): Call {
    const callId = typeof id === 'string' ? id : '';
    const existing = this.#calls.get(index);
    if (existing && (callId === '' || existing.id === '' || existing.id === callId)) {
      existing.id ||= callId;
      return existing;
    }
    const call = { index: this.#count++, id: callId, isAnnounced: false, held: '' };
    this.#calls.set(index, call);
    return call;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A whole completion as one chunk. */
export function completionEvents(body: unknown): Json[] | null {
  if (!isObject(body) || !Array.isArray(body.choices)) return null;
  const choice: Json = body.choices.find(isObject) ?? {};
  const message = isObject(choice.message) ? choice.message : {};
  const calls = objectsIn(message.tool_calls).map((call, index) => ({ ...call, index }));
  const functionCall = calls.length > 0 ? undefined : message.function_call;
  const delta = { ...message, tool_calls: calls, function_call: functionCall };
  return [
    { ...body, error: undefined, choices: [{ ...choice, delta, finish_reason: choice.finish_reason ?? 'stop' }] },
  ];
}
