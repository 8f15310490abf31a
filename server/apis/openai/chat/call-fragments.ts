/**
 * Puts the fragments of streamed calls together. The index places a fragment; id and name only refine. Services differ in
 * what they send beside it: another id or the literal "null" with each fragment, the name again and again or empty, one
 * index for several calls (Google's endpoint), or no index at all.
 */
import { GrowingText } from '../../neutral/answers/growing-text.ts';
import type { Seal } from '../../neutral/conversation.ts';
import type { AnswerEvent, CallEvent } from '../../neutral/neutral-answer.ts';
import { derivedCallId } from '../../neutral/requests/call-ids.ts';
import { argumentsOf, calledIn, sealOfCall } from './parse-message.ts';

type Json = Record<string, unknown>;

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

export class CallFragments {
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
