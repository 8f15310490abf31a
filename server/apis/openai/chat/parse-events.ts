/** Parses the stream of a chat completion. */
import { isObject } from '../../../contract/is-object.ts';
import { tellErrorWithin } from '../../core/errors/verdict.ts';
import type { StreamEvent } from '../../core/stream-format.ts';
import type { EventParser } from '../../neutral/answers/wire-translation.ts';
import type { Seal } from '../../neutral/conversation.ts';
import { append, GrowingText } from '../../neutral/json-text.ts';
import {
  type AnswerError,
  type AnswerEvent,
  type CallEvent,
  type DeltaEvent,
  EventUsage,
  type StopReason,
} from '../../neutral/neutral-answer.ts';
import { derivedCallId } from '../../neutral/requests/rendering.ts';
import { annotationEvent, listedSources } from '../url-citations.ts';
import { plainReports } from '../usage/usage-shapes.ts';
import { chatErrorIn } from '../wire/streams.ts';
import {
  argumentsOf,
  calledIn,
  hasSaid,
  isFailure,
  isText,
  objectsIn,
  ProviderMembers,
  parseFinishReason,
  picturesOf,
  plainSeal,
  saidIn,
  sealOfCall,
  thoughtIn,
  thoughtInDetails,
} from './parse-message.ts';

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

/** A call, as far as its fragments have arrived. */
interface Call {
  /** In the order of the calls. */
  index: number;
  id: string;
  /** Empty until it has arrived; then the call has been announced. */
  name: string;
  isCustom: boolean;
  /** Fragments of it came under other ids, so that an id says nothing. */
  hasOtherIds: boolean;
  /** Ids that came with its name again before any arguments: calls of their own, if no arguments follow at all. */
  namesakes: string[];
  arguments: GrowingText;
  object: WholeObjectWatch;
  seal?: Seal | undefined;
}

/** The calls at one index, or all, and that of the latest fragment. */
interface Place {
  byId: Map<string, Call>;
  latest: Call | null;
}

/** What a fragment says beside its place. */
interface Fragment {
  id: string;
  name: string;
  isCustom: boolean;
  text: string;
  seal: Seal | undefined;
}

/**
 * Puts the fragments of streamed calls together. The index places a fragment; id and name only refine. Services differ
 * in what they send beside it: another id or the literal "null" with each fragment, the name again and again or empty,
 * one index for several calls (Google's endpoint), or no index at all.
 */
class CallFragments {
  readonly #turns: number;
  readonly #all: Call[] = [];
  readonly #everywhere: Place = emptyPlace();
  /** By the upstream's index; under null, those without one. */
  readonly #places = new Map<number | null, Place>();

  constructor(turns: number) {
    this.#turns = turns;
  }

  take(given: Json): AnswerEvent[] {
    const { isCustom, called } = calledIn(given);
    const fragment = {
      id: idOf(given.id),
      name: typeof called.name === 'string' ? called.name.trim() : '',
      isCustom,
      text: argumentsOf(isCustom ? called.input : called.arguments),
      seal: sealOfCall(given),
    };
    const index = indexOf(given.index);
    const call = this.#callOf(index, fragment);
    for (const place of [this.#everywhere, this.#places.get(index)]) if (place) place.latest = call;
    const later = sealEvents(call, fragment);
    if (isRepeat(call, fragment)) return later;
    if (isOtherId(call, fragment)) {
      call.hasOtherIds = true;
      if (fragment.name !== '' && call.arguments.isEmpty) call.namesakes.push(fragment.id);
    }
    call.id ||= fragment.id;
    call.arguments.add(fragment.text);
    call.object.add(fragment.text);
    if (call.name !== '') return [...argumentEvents(call, fragment.text), ...later];
    if (fragment.name === '') return [];
    call.name = fragment.name;
    call.isCustom = isCustom;
    const id = call.id || derivedCallId(String(this.#turns), call.index, call.name);
    return [announced({ ...call, id }), ...argumentEvents(call, call.arguments.text)];
  }

  /** More arguments of the latest call, given as the inside of a JSON string. */
  takeMore(escaped: string): void {
    this.#everywhere.latest?.arguments.addEscaped(escaped);
    this.#everywhere.latest?.object.addEscaped(escaped);
  }

  /**
   * What only the end shows to be a call: one without arguments at the place of another without arguments, and arguments
   * whose call never got a name.
   */
  end(): AnswerEvent[] {
    let count = this.#all.length;
    return this.#all.flatMap((call): AnswerEvent[] => {
      const { name, arguments: given } = call;
      if (name === '') return [announced(call), ...argumentEvents(call, given.text)];
      return given.isEmpty
        ? call.namesakes.map((id) => announced({ ...call, id, index: count++, seal: undefined }))
        : [];
    });
  }

  #callOf(index: number | null, fragment: Fragment): Call {
    const place = index === null ? this.#everywhere : (this.#places.get(index) ?? emptyPlace());
    const latest = place.byId.get(fragment.id) ?? place.latest;
    if (latest)
      return beginsAnother(latest, fragment) ? this.#open(index, fragment) : this.#named(latest, place, fragment);
    if (fragment.name !== '') return this.#open(index, fragment);
    // An index that nothing has begun: the id may know better, or the beginning had no index.
    const elsewhere = this.#everywhere.byId.get(fragment.id) ?? this.#places.get(null)?.latest;
    return elsewhere ?? this.#open(index, fragment);
  }

  /** A call is also known by the id that comes late. */
  #named(call: Call, { byId }: Place, { id }: Pick<Fragment, 'id'>): Call {
    if (call.id === '' && id !== '') for (const ids of [byId, this.#everywhere.byId]) ids.set(id, call);
    return call;
  }

  #open(index: number | null, { id }: Fragment): Call {
    const call: Call = {
      index: this.#all.length,
      id: '',
      name: '',
      isCustom: false,
      hasOtherIds: false,
      namesakes: [],
      arguments: new GrowingText(),
      object: new WholeObjectWatch(),
    };
    this.#all.push(call);
    const place = this.#places.get(index) ?? emptyPlace();
    this.#places.set(index, place);
    place.latest = call;
    return this.#named(call, place, { id });
  }
}

function emptyPlace(): Place {
  return { byId: new Map(), latest: null };
}

function announced({ index, id, name, isCustom, seal }: Call): CallEvent {
  return { type: 'call', index, id, name, kind: isCustom ? 'custom' : 'function', seal };
}

/** A seal that comes after the call has been announced. */
function sealEvents(call: Call, { seal }: Fragment): AnswerEvent[] {
  if (seal === undefined || call.seal) return [];
  call.seal = seal;
  return call.name === '' ? [] : [{ type: 'seal', seal, call: call.index }];
}

function argumentEvents({ index }: Call, text: string): AnswerEvent[] {
  return text === '' ? [] : [{ type: 'arguments', index, text }];
}

/** Only a fragment with a name can begin another call at the same place; whatever its id is. */
function beginsAnother(call: Call, fragment: Fragment): boolean {
  if (fragment.name === '') return false;
  const isWhole = call.object.isWhole;
  const beginsObject = fragment.text.trimStart().startsWith('{');
  if (call.name === '') return isWhole && beginsObject;
  const isOther = isOtherId(call, fragment);
  const isSameId = !isOther && fragment.id !== '' && fragment.id === call.id;
  if (call.name !== fragment.name) return !isSameId || isWhole;
  if (call.isCustom) return isOther;
  if (!isWhole || isSameId) return false;
  if (fragment.text.trim() === '') return isOther && !call.hasOtherIds;
  return (beginsObject || isOther) && !isRepeat(call, fragment);
}

function isOtherId(call: Call, { id }: Fragment): boolean {
  return id !== '' && call.id !== '' && id !== call.id;
}

/** Some services end a call with all of its arguments once more. */
function isRepeat(call: Call, fragment: Fragment): boolean {
  const { text, name } = fragment;
  if (!text.startsWith('{') || !text.endsWith('}')) return false;
  if (name !== '' && isOtherId(call, fragment) && !call.hasOtherIds) return false;
  return call.arguments.text === text;
}

function idOf(id: unknown): string {
  return typeof id === 'string' && id !== 'null' ? id : '';
}

function indexOf(index: unknown): number | null {
  if (typeof index === 'string' && index.trim() !== '') return indexOf(Number(index));
  return typeof index === 'number' && Number.isInteger(index) ? index : null;
}

/** Whether a growing text is one whole JSON object, by its brackets. Looks at each character once, and only if asked. */
class WholeObjectWatch {
  #unseen = new GrowingText();
  #isEscaped = false;
  #depth = 0;
  #isInString = false;
  /** It does not begin as an object, or something follows its end. */
  #isOther = false;
  #hasEnded = false;

  add(text: string): void {
    this.#unseen.add(text);
  }

  addEscaped(escaped: string): void {
    this.#unseen.addEscaped(escaped);
  }

  get isWhole(): boolean {
    for (const character of this.#unseen.text) this.#take(character);
    this.#unseen = new GrowingText();
    return this.#hasEnded && !this.#isOther;
  }

  #take(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInString) {
      if (character === '\\') this.#isEscaped = true;
      else if (character === '"') this.#isInString = false;
    } else if (character.trim() !== '') this.#takeOutside(character);
  }

  #takeOutside(character: string): void {
    if (this.#hasEnded || (this.#depth === 0 && character !== '{')) this.#isOther = true;
    if (character === '"') this.#isInString = true;
    else if (character === '{' || character === '[') this.#depth++;
    else if (character === '}' || character === ']') this.#hasEnded = --this.#depth === 0;
  }
}
