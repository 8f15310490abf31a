/** Parses the stream of a response. Source: OpenAI's API reference, "Streaming events". */
import { isObject } from '../../../contract/is-object.ts';
import { tellErrorWithin } from '../../core/errors/verdict.ts';
import type { StreamEvent } from '../../core/stream-format.ts';
import { entryOf } from '../../core/table-entry.ts';
import { errorIn } from '../../core/upstream-error.ts';
import type { EventParser } from '../../neutral/answers/wire-translation.ts';
import type { Seal } from '../../neutral/conversation.ts';
import { GrowingText } from '../../neutral/json-text.ts';
import { type AnswerEvent, type DeltaEvent, EventUsage, type Stop } from '../../neutral/neutral-answer.ts';
import { annotationEvent } from '../url-citations.ts';
import { responseReports } from '../usage/usage-shapes.ts';
import { parseResponseStop } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

const ends = ['response.completed', 'response.incomplete', 'response.done'];

/** An event that brings a part of an item: a piece of it (`delta`), or all of it in the member `whole`. */
interface ContentEvent {
  kind: ContentKind;
  /** The member of the event that counts the parts of its item; empty if there is only one. */
  part: string;
  whole?: string;
}

const contentEvents: Record<string, ContentEvent> = {
  'response.output_text.delta': { kind: 'text', part: 'content_index' },
  'response.output_text.done': { kind: 'text', part: 'content_index', whole: 'text' },
  'response.refusal.delta': { kind: 'refusal', part: 'content_index' },
  'response.refusal.done': { kind: 'refusal', part: 'content_index', whole: 'refusal' },
  'response.reasoning_summary_text.delta': { kind: 'thinking', part: 'summary_index' },
  'response.reasoning_summary_text.done': { kind: 'thinking', part: 'summary_index', whole: 'text' },
  'response.reasoning_text.delta': { kind: 'thinking', part: 'content_index' },
  'response.reasoning_text.done': { kind: 'thinking', part: 'content_index', whole: 'text' },
  'response.function_call_arguments.delta': { kind: 'arguments', part: '' },
  'response.function_call_arguments.done': { kind: 'arguments', part: '', whole: 'arguments' },
  'response.custom_tool_call_input.delta': { kind: 'arguments', part: '' },
  'response.custom_tool_call_input.done': { kind: 'arguments', part: '', whole: 'input' },
};

/**
 * Items come in deltas, as a whole at their end, or only in the last event, depending on the service; whatever has not been
 * passed on before is taken from the later event.
 */
export class ResponsesEventParser implements EventParser {
  readonly #usage = new EventUsage(responseReports);
  readonly #items = new SeenItems();
  #hasBegun = false;
  #isOver = false;

  push({ name, value }: StreamEvent): AnswerEvent[] {
    if (this.#isOver) return [];
    if (!isObject(value)) return [];
    const type = typeof value.type === 'string' ? value.type : name;
    if (type === 'error' || type === 'response.failed' || value.error) {
      return [{ type: 'error', error: tellErrorWithin(errorIn(value)) }];
    }
    const startEvents = this.#begin(value);
    return [...startEvents, ...this.#take(type, value)];
  }

  takeMore(_kind: DeltaEvent['type'], escaped: string): void {
    this.#items.takeMore(escaped);
  }

  /** A stream without its terminal event was cut off, whether `[DONE]` came or not. */
  end(): AnswerEvent[] {
    return [];
  }

  #begin({ response }: Json): AnswerEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    return [{ type: 'start', id: isObject(response) && typeof response.id === 'string' ? response.id : '' }];
  }

  #take(type: string, event: Json): AnswerEvent[] {
    const { item, part } = event;
    if (ends.includes(type)) return this.#finish(event);
    if (type === 'response.output_item.added') return isObject(item) ? this.#items.begin(event, item) : [];
    if (type === 'response.output_item.done') return isObject(item) ? this.#items.end(event, item) : [];
    if (type === 'response.content_part.done') return isObject(part) ? this.#items.takePart(event, part) : [];
    if (type === 'response.output_text.annotation.added') return this.#items.annotate(event);
    const content = entryOf(contentEvents, type);
    if (content === undefined) return [];
    const { kind, part: counter, whole } = content;
    const text = event[whole ?? 'delta'];
    if (typeof text !== 'string' || text === '') return [];
    const position = { kind, part: `${counter} ${event[counter] ?? ''}`.trim() };
    return whole === undefined ? this.#items.add(event, position, text) : this.#items.complete(event, position, text);
  }

  #finish(event: Json): AnswerEvent[] {
    const response = isObject(event.response) ? event.response : {};
    const output = Array.isArray(response.output) ? response.output.filter(isObject) : [];
    const rest = this.#items.restOf(output);
    return [...rest, ...this.#stop(parseResponseStop(response), event)];
  }

  #stop(stop: Stop, event: Json): AnswerEvent[] {
    this.#isOver = true;
    return [{ type: 'stop', stop }, ...this.#usage.eventsOf(event), { type: 'end' }];
  }
}

/** A whole response as its last event, which contains all of it. */
export function responseEvents(body: unknown): Json[] | null {
  if (!isObject(body) || !Array.isArray(body.output)) return null;
  return [{ type: body.status === 'failed' ? 'response.failed' : 'response.completed', response: body }];
}

// What of a response's items has been passed on, so that a later event that has all of an item adds only the rest. Services
// differ in how they name an item: by its place, its id or a call's id, some of them differently in each event, or not at
// all.

type ContentKind = 'text' | 'refusal' | 'thinking' | 'arguments';

/** A part of an item: `part` is the member that counts it, and the number. */
interface Position {
  kind: ContentKind;
  part: string;
}

/** What of an item has been passed on. */
interface SeenItem {
  /** In the order of the items. */
  index: number;
  /** Empty until an event tells it. */
  type: string;
  callId: string;
  /** Of a call that has been passed on; else empty. */
  name: string;
  isCalled: boolean;
  isDone: boolean;
  /** As the event that began it had it: already with all of its content, from some services. */
  beginning: Json | null;
  /** By part: how many annotations have been passed on. */
  annotations: Map<string, number>;
  /** By part: where in the answer's text it begins. */
  starts: Map<string, number>;
  /** By part: what has arrived. Of a call that has not begun, nothing of it has been passed on. */
  parts: Map<string, GrowingText>;
  /** The part of a thought that was added to last. */
  thought: string | null;
}

/** Items of conversations. All others are of tools that the provider runs. */
const contentItems = ['message', 'reasoning', 'function_call', 'custom_tool_call'];
const typeOfKind: Record<ContentKind, string> = {
  text: 'message',
  refusal: 'message',
  thinking: 'reasoning',
  arguments: 'function_call',
};
const onlyPart = '';

class SeenItems {
  readonly #all: SeenItem[] = [];
  readonly #byPlace = new Map<number, SeenItem>();
  /** By item id and by call id. */
  readonly #byId = new Map<string, SeenItem>();
  /** By type, both kinds of calls together. */
  readonly #latestOf = new Map<string, SeenItem>();
  /** The text to which the latest event has added. */
  #latest = new GrowingText();
  /** The part that said something to the client last, other than a refusal. */
  #latestText = { start: 0, text: new GrowingText() };

  begin(event: Json, item: Json): AnswerEvent[] {
    const seen = this.#itemOf(event, item);
    seen.beginning ??= item;
    return this.#call(seen, item);
  }

  /** A piece of a part. */
  add(event: Json, { kind, part }: Position, text: string): AnswerEvent[] {
    const seen = this.#itemOf(event, { type: typeOfKind[kind], id: event.item_id });
    return this.#added(seen, { kind, part }, text);
  }

  /** More of the text that the latest event added, given as the inside of a JSON string. */
  takeMore(escaped: string): void {
    this.#latest.addEscaped(escaped);
  }

  /** All of a part. */
  complete(event: Json, position: Position, text: string): AnswerEvent[] {
    const seen = this.#itemOf(event, { type: typeOfKind[position.kind], id: event.item_id });
    return this.#rest(seen, position, text);
  }

  takePart(event: Json, part: Json): AnswerEvent[] {
    const type = part.type === 'reasoning_text' ? 'reasoning' : 'message';
    const seen = this.#itemOf(event, { type, id: event.item_id });
    return this.#restOfPart(seen, part, `content_index ${event.content_index ?? ''}`.trim());
  }

  annotate(event: Json): AnswerEvent[] {
    const seen = this.#itemOf(event, { type: 'message', id: event.item_id });
    const { annotation } = event;
    return isObject(annotation)
      ? this.#annotated(seen, `content_index ${event.content_index ?? ''}`, [annotation])
      : [];
  }

  /** Emits what of the item has not been passed on. */
  end(event: Json, item: Json): AnswerEvent[] {
    return this.#end(this.#itemOf(event, item), item);
  }

  /** What the last event has and no earlier one had, and arguments whose call never began. */
  restOf(output: readonly Json[]): AnswerEvent[] {
    const known = this.#knownOf(output);
    const unknownFrom = this.#all.length;
    const rest = output.flatMap((item) => {
      const seen = known.get(item);
      // A thought that is told after its text would be taken for the end of the answer.
      if (!seen && item.type === 'reasoning' && unknownFrom > 0) return [];
      return this.#end(seen ?? this.#open(item, {}), item);
    });
    return [...rest, ...this.#all.flatMap((seen) => [...this.#unended(seen), ...this.#unnamed(seen)])];
  }

  /** The seen items that those of the last event are: by name, else by what they say, else in their order. */
  #knownOf(output: readonly Json[]): Map<Json, SeenItem> {
    const known = new Map<Json, SeenItem>();
    const free = new Set(this.#all);
    const match = (find: (item: Json, place: number) => SeenItem | undefined) => {
      for (const [place, item] of output.entries()) {
        const seen = known.has(item) ? undefined : find(item, place);
        if (seen && free.delete(seen)) known.set(item, seen);
      }
    };
    const first = (is: (seen: SeenItem) => boolean) => firstOf(free, is);
    match((item) => this.#byId.get(textOf(item.call_id)) ?? this.#byId.get(textOf(item.id)));
    match((item, place) => first((seen) => seen === this.#byPlace.get(place) && isSame(seen, item)));
    match((item) => first((seen) => isSame(seen, item)));
    // What they say differs, but what the client has cannot be taken back.
    match((item) => first((seen) => item.type === 'message' && seen.type === 'message'));
    return known;
  }

  /** The item of an event of the stream, which may not have been seen before. */
  #itemOf({ output_index: place }: Json, item: Json): SeenItem {
    const type = textOf(item.type);
    const seen = this.#known(place, item) ?? (hasName(place, item) ? undefined : this.#openItem(type));
    if (!seen) return this.#open(item, { place });
    this.#note(seen, item);
    return seen;
  }

  /** The place is the first to know: ids of some services are others in each event (GitHub Copilot). */
  #known(place: unknown, { type, id, call_id: callId }: Json): SeenItem | undefined {
    const atPlace = typeof place === 'number' ? this.#byPlace.get(place) : undefined;
    return atPlace && isOf(atPlace, type) ? atPlace : (this.#byId.get(textOf(callId)) ?? this.#byId.get(textOf(id)));
  }

  /** The latest one of the kind, unless it has ended. */
  #openItem(type: string): SeenItem | undefined {
    const latest = this.#latestOf.get(isCall(type) ? 'call' : type);
    return latest?.isDone ? undefined : latest;
  }

  #open(item: Json, { place }: { place?: unknown }): SeenItem {
    const seen: SeenItem = {
      index: this.#all.length,
      type: '',
      callId: '',
      name: '',
      isCalled: false,
      isDone: false,
      beginning: null,
      annotations: new Map(),
      starts: new Map(),
      parts: new Map(),
      thought: null,
    };
    this.#all.push(seen);
    if (typeof place === 'number') this.#byPlace.set(place, seen);
    this.#note(seen, item);
    return seen;
  }

  #note(seen: SeenItem, { type, id, call_id: callId }: Json): void {
    // That arguments are of a function is only assumed until the item itself says so.
    if (seen.type === '' || type === 'custom_tool_call') seen.type = textOf(type);
    seen.callId ||= textOf(callId);
    this.#latestOf.set(isCall(type) ? 'call' : textOf(type), seen);
    for (const name of [textOf(id), textOf(callId)]) if (name !== '') this.#byId.set(name, seen);
  }

  #call(seen: SeenItem, item: Json): AnswerEvent[] {
    const name = textOf(item.name);
    if (seen.isCalled || !isCall(item.type) || name === '') return [];
    seen.isCalled = true;
    seen.name = name;
    const kind = item.type === 'custom_tool_call' ? 'custom' : 'function';
    const held = seen.parts.get(onlyPart)?.text ?? '';
    const call: AnswerEvent = { type: 'call', index: seen.index, id: textOf(item.call_id), name, kind };
    return held === '' ? [call] : [call, { type: 'arguments', index: seen.index, text: held }];
  }

  #end(seen: SeenItem, item: Json): AnswerEvent[] {
    if (seen.isDone) return this.#restOfAnnotations(seen, item);
    seen.isDone = true;
    const type = textOf(item.type);
    if (!contentItems.includes(type)) return [{ type: 'foreign', name: type }];
    if (type === 'reasoning') return [...this.#restOfThought(seen, item), { type: 'seal', seal: sealOf(item) }];
    if (type === 'message') return this.#restOfMessage(seen, item);
    const callArguments = textOf(type === 'custom_tool_call' ? item.input : item.arguments);
    const begun = this.#call(seen, item);
    const rest = this.#rest(seen, { kind: 'arguments', part: onlyPart }, callArguments);
    return seen.isCalled ? [...begun, ...rest, { type: 'call-end', index: seen.index }] : [];
  }

  #restOfThought(seen: SeenItem, item: Json): AnswerEvent[] {
    return ['summary', 'content'].flatMap((member) =>
      objectsIn(item[member]).flatMap(({ text }, at) => {
        const counter = member === 'summary' ? 'summary_index' : 'content_index';
        return this.#rest(seen, { kind: 'thinking', part: `${counter} ${at}` }, textOf(text));
      }),
    );
  }

  #restOfMessage(seen: SeenItem, item: Json): AnswerEvent[] {
    return objectsIn(item.content).flatMap((part, at): AnswerEvent[] => {
      const isKnown = ['output_text', 'text', 'refusal'].includes(textOf(part.type));
      if (!isKnown) return [{ type: 'foreign', name: textOf(part.type) }];
      return this.#restOfPart(seen, part, `content_index ${at}`);
    });
  }

  #restOfPart(seen: SeenItem, { type, text, refusal, annotations }: Json, part: string): AnswerEvent[] {
    if (type === 'refusal') return this.#rest(seen, { kind: 'refusal', part }, textOf(refusal));
    const kind = type === 'reasoning_text' ? 'thinking' : 'text';
    const rest = this.#rest(seen, { kind, part }, textOf(text));
    const cited = objectsIn(annotations);
    return cited.length === 0 ? rest : [...rest, ...this.#restOfCited(seen, part, cited)];
  }

  /** Of an item that has ended: its annotations may come only with the whole response. */
  #restOfAnnotations(seen: SeenItem, { content }: Json): AnswerEvent[] {
    return objectsIn(content).flatMap(({ annotations }, at) => {
      const cited = objectsIn(annotations);
      return cited.length === 0 ? [] : this.#restOfCited(seen, `content_index ${at}`, cited);
    });
  }

  #restOfCited(seen: SeenItem, part: string, cited: readonly Json[]): AnswerEvent[] {
    return this.#annotated(seen, part, cited.slice(seen.annotations.get(keyOf(seen, part)) ?? 0));
  }

  #annotated(seen: SeenItem, part: string, annotations: readonly Json[]): AnswerEvent[] {
    const key = keyOf(seen, part.trim());
    seen.annotations.set(key, (seen.annotations.get(key) ?? 0) + annotations.length);
    const from = seen.starts.get(key) ?? this.#textLength;
    return annotations.map((annotation) => annotationEvent(annotation, from));
  }

  /** Where in the answer's text the next part of it begins. */
  get #textLength(): number {
    return this.#latestText.start + this.#latestText.text.text.length;
  }

  /** The end of a part of which the client has the beginning. What contradicts that cannot be taken back. */
  #rest(seen: SeenItem, position: Position, whole: string): AnswerEvent[] {
    const arrived = arrivedOf(seen, position.part);
    return whole.startsWith(arrived) ? this.#added(seen, position, whole.slice(arrived.length)) : [];
  }

  #added(seen: SeenItem, { kind, part }: Position, text: string): AnswerEvent[] {
    if (text === '') return [];
    const key = keyOf(seen, part);
    const arrived = seen.parts.get(key) ?? this.#beginPart(seen, key, kind);
    arrived.add(text);
    this.#latest = arrived;
    if (kind === 'thinking') return think(seen, key, text);
    if (kind !== 'arguments') return [{ type: kind, text }];
    // Without its beginning, the call is taken from the item's end.
    return seen.isCalled ? [{ type: 'arguments', index: seen.index, text }] : [];
  }

  #beginPart(seen: SeenItem, key: string, kind: ContentKind): GrowingText {
    const text = new GrowingText();
    seen.parts.set(key, text);
    if (kind === 'text') {
      const start = this.#textLength;
      seen.starts.set(key, start);
      this.#latestText = { start, text };
    }
    return text;
  }

  #unended(seen: SeenItem): AnswerEvent[] {
    const mayEnd = isCall(seen.type) || seen.type === 'message';
    return mayEnd && seen.beginning ? this.#end(seen, seen.beginning) : [];
  }

  #unnamed(seen: SeenItem): AnswerEvent[] {
    const held = isCall(seen.type) && !seen.isCalled ? arrivedOf(seen, onlyPart) : '';
    if (held === '') return [];
    const { index } = seen;
    return [
      { type: 'call', index, id: seen.callId, name: '', kind: 'function' },
      { type: 'arguments', index, text: held },
    ];
  }
}

/** No service leaves more items without a name. */
const maxCompared = 256;

function firstOf(items: Iterable<SeenItem>, is: (seen: SeenItem) => boolean): SeenItem | undefined {
  let compared = 0;
  for (const item of items) {
    if (is(item)) return item;
    if (++compared > maxCompared) return undefined;
  }
  return undefined;
}

/** Parts of a thought are separated like paragraphs. */
function think(seen: SeenItem, part: string, text: string): AnswerEvent[] {
  const isNext = seen.thought !== null && seen.thought !== part;
  seen.thought = part;
  return [...(isNext ? [{ type: 'thinking' as const, text: '\n\n' }] : []), { type: 'thinking', text }];
}

/** Not all events count the parts: one that is not counted is the only one of its member. */
function keyOf({ parts }: SeenItem, part: string): string {
  const [member = '', number] = part.split(' ');
  if (parts.has(part)) return part;
  if (number !== undefined) return parts.has(member) ? member : part;
  return [...parts.keys()].findLast((key) => key.startsWith(`${member} `)) ?? part;
}

function arrivedOf(seen: SeenItem, part: string): string {
  return seen.parts.get(keyOf(seen, part))?.text ?? '';
}

function hasName(place: unknown, { id, call_id: callId }: Json): boolean {
  return typeof place === 'number' || textOf(id) !== '' || textOf(callId) !== '';
}

function isOf(seen: SeenItem, type: unknown): boolean {
  return seen.type === '' || seen.type === type || (isCall(seen.type) && isCall(type));
}

function isCall(type: unknown): boolean {
  return type === 'function_call' || type === 'custom_tool_call';
}

/** Whether an item of the last event says what a seen one has said so far. */
function isSame(seen: SeenItem, item: Json): boolean {
  if (!isOf(seen, item.type)) return false;
  if (isCall(item.type)) {
    const isNamed = seen.name === '' || seen.name === item.name;
    return isNamed && textOf(item.arguments ?? item.input).startsWith(arrivedOf(seen, onlyPart));
  }
  if (item.type !== 'message') return true;
  return objectsIn(item.content).every(({ text, refusal }, at) =>
    textOf(text ?? refusal).startsWith(arrivedOf(seen, `content_index ${at}`)),
  );
}

/** The data that must be sent back with the item. */
function sealOf(item: Json): Seal {
  const data = textOf(item.encrypted_content);
  return { kind: data === '' ? 'plain' : 'encrypted', data, itemId: textOf(item.id) || undefined };
}

function objectsIn(list: unknown): Json[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
