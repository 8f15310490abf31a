/**
 * Maps the tools in an upstream's stream back to the client's, one block at a time. A call that begins before another
 * has ended is delayed, because Anthropic's and Responses' streams have only one open block at a time.
 */

import {
  type AnswerContext,
  answerCallIds,
  brokenArguments,
  isWholeObject,
  malformedCall,
  settledStop,
} from '../neutral/answers/wire-translation.ts';
import type { Seal } from '../neutral/conversation.ts';
import { GrowingText } from '../neutral/json-text.ts';
import { pictureAsText } from '../neutral/media.ts';
import type {
  AnswerError,
  AnswerEvent,
  CallEvent,
  CitedPlace,
  Source,
  SourcePlace,
  Stop,
} from '../neutral/neutral-answer.ts';
import { CustomInputReader, customInput, isCutInput } from '../neutral/requests/custom-input.ts';
import type { CallIds } from '../neutral/requests/rendering.ts';

interface OpenCall {
  /** The call as the client knows it; null for the tool whose arguments are the answer, and for a call without a name. */
  call: CallEvent | null;
  name: string;
  /** Set for a custom tool that was offered as a function. */
  input: CustomInputReader | null;
  /** The text of a custom tool's call, for a client whose calls have JSON alone. */
  isText: boolean;
  arguments: GrowingText;
  /** The beginning of arguments that may turn out to be `null`, which stands for none. */
  held: string;
}

export class EventsForClient {
  readonly #context: AnswerContext;
  readonly #ids: CallIds;
  /** The call whose arguments are passed on as they arrive. */
  #open: OpenCall | null = null;
  #openIndex = -1;
  /** Events that have arrived for other blocks meanwhile, by block; those before `#next` have been passed on. */
  #waiting: AnswerEvent[][] = [];
  #waitingCalls = new Map<number, AnswerEvent[]>();
  #next = 0;
  /** How many events have to wait. */
  delayedEvents = 0;
  #calls = 0;
  #hasCalls = false;
  #hasRefused = false;
  /** Arguments have come for a call that has no name. The mere presence of a call's members is none. */
  #isUnnamed = false;
  readonly #text = new AnswerText();
  /** The citations that have been passed on: services may repeat them in each event, and say them in two ways. */
  #cited = new Set<string>();
  #isOver = false;
  /** A call has ended whose arguments are no whole object. Only what follows shows whether the answer's limit cut it off. */
  #broken: { index: number; error: AnswerError } | null = null;
  #out: AnswerEvent[] = [];

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#ids = answerCallIds(context.conversation);
  }

  /** Ignores anything after an error or the end. */
  push(event: AnswerEvent): AnswerEvent[] {
    this.#out = [];
    this.#take(event);
    return this.#out;
  }

  /** Whether the arguments of the open call are passed on in another form. */
  get isRewriting(): boolean {
    return this.#open !== null && (this.#open.input !== null || this.#open.isText);
  }

  /** Adds more arguments of the open call, given as the inside of a JSON string. */
  takeMoreArguments(escaped: string): void {
    this.#open?.arguments.addEscaped(escaped);
  }

  /** Takes note of more text, given as the inside of a JSON string. */
  takeMoreText(escaped: string): void {
    this.#text.addEscaped(escaped);
  }

  /** Continues the answer of `earlier`, whose citations the client has. */
  continue(earlier: EventsForClient): void {
    this.#cited = earlier.#cited;
  }

  #take(event: AnswerEvent): void {
    if (this.#isOver) return;
    if (this.#broken && !saysNothing.has(event.type)) this.#fail(this.#broken.error);
    else if (event.type === 'stop') this.#stop(event.stop);
    else if (event.type === 'error') this.#fail(event.error);
    else if (event.type === 'start') this.#pass({ ...event, id: event.id || this.#context.answerId });
    else if (event.type === 'end' || event.type === 'usage') this.#pass(event);
    else if (this.#open !== null && !this.#isOfOpenCall(event)) this.#keep(event);
    else {
      this.#takeContent(event);
      this.#releaseWaiting();
    }
  }

  #keep(event: AnswerEvent): void {
    const callIndex = indexOfCall(event);
    const call = callIndex === undefined ? undefined : this.#waitingCalls.get(callIndex);
    if (callIndex !== undefined && call === undefined) return;
    this.delayedEvents++;
    if (call) {
      call.push(event);
      return;
    }
    const block = [event];
    this.#waiting.push(block);
    if (event.type === 'call') this.#waitingCalls.set(event.index, block);
  }

  #isOfOpenCall(event: AnswerEvent): boolean {
    return indexOfCall(event) === this.#openIndex;
  }

  #takeContent(event: AnswerEvent): void {
    if (event.type === 'call') this.#begin(event);
    else if (event.type === 'arguments') this.#addArguments(event.text);
    else if (event.type === 'call-end') this.#close();
    else if (event.type === 'seal') this.#seal(event.seal, event.call !== undefined);
    else if (event.type === 'refusal') this.#refuse(event);
    else if (event.type === 'foreign') this.#context.losses.dropped(event.name, 'provider-item');
    else if (event.type === 'passage') this.#text.beginPassage();
    else if (event.type === 'source') this.#cite(event.source);
    else this.#pass(event);
  }

  #refuse(event: AnswerEvent): void {
    this.#hasRefused = true;
    this.#pass(event);
  }

  #cite({ url, title, place: told }: Source): void {
    const { conversation, losses } = this.#context;
    if (!conversation.client.hasCitations) {
      losses.dropped('citations', 'provider-item');
      return;
    }
    const place = this.#text.placeOf(told);
    const key = `${place?.start} ${place?.end} ${url}`;
    if (!this.#cited.has(key)) this.#pass({ type: 'citation', citation: { url, title, place } });
    this.#cited.add(key);
  }

  #begin(event: CallEvent): void {
    const { names, answerTool, conversation } = this.#context;
    this.#openIndex = event.index;
    const { name, namespace, kind, ownType } = names.decode(event.name);
    const isHidden = event.name === answerTool || name === '';
    const input = kind === 'custom' && event.kind === 'function' ? new CustomInputReader() : null;
    const id = isHidden ? '' : this.#ids.assign(event.id);
    const isText = event.kind === 'custom' && conversation.client.wantsWholeArguments;
    const callKind = event.kind === 'custom' && !isText ? 'custom' : kind;
    const { hasSealedCalls } = conversation.client;
    const own = event.seal && this.#sealed({ ...event.seal, isOfCall: true }, this.#calls);
    if (own && !hasSealedCalls && !isHidden) this.#pass({ type: 'seal', seal: own });
    const seal = hasSealedCalls ? own : undefined;
    const call: CallEvent = { type: 'call', index: this.#calls, id, name, namespace, kind: callKind, ownType, seal };
    this.#open = { call: isHidden ? null : call, name, input, isText, arguments: new GrowingText(), held: '' };
    if (isHidden) return;
    this.#calls++;
    this.#hasCalls = true;
    this.#pass(call);
  }

  /** @param isOfOpenCall it belongs to the call that has begun, which the client has without it */
  #seal(seal: Seal, isOfOpenCall: boolean): void {
    if (!isOfOpenCall) this.#pass({ type: 'seal', seal: this.#sealed(seal, this.#calls) });
    else if (this.#open?.call) {
      const { index } = this.#open.call;
      this.#pass({ type: 'seal', seal: { ...this.#sealed(seal, index), isOfCall: true }, call: index });
    }
  }

  #sealed(seal: Seal, calls: number): Seal {
    return { ...seal, origin: this.#context.origin, place: { calls, text: this.#text.length } };
  }

  #addArguments(text: string): void {
    const open = this.#open;
    if (open === null || text === '') return;
    if (open.call === null) this.#passAnswer(open, text);
    else if (!open.isText) {
      const inputText = open.input ? open.input.push(text) : pastNull(open, text);
      if (inputText !== '') this.#pass({ type: 'arguments', index: open.call.index, text: inputText });
    }
    open.arguments.add(text);
  }

  #passAnswer({ name }: OpenCall, text: string): void {
    if (name !== '') this.#pass({ type: 'text', text });
  }

  /** Passes on delayed events, up to a call whose end has not arrived. */
  #releaseWaiting(): void {
    while (this.#open === null && !this.#isOver) {
      const block = this.#waiting[this.#next];
      if (block === undefined) return;
      this.#next++;
      this.delayedEvents -= block.length;
      for (const event of block) this.#takeDelayed(event);
    }
  }

  #takeDelayed(event: AnswerEvent): void {
    if (this.#broken && !saysNothing.has(event.type)) this.#fail(this.#broken.error);
    else this.#takeContent(event);
  }

  #close(): void {
    const open = this.#open;
    this.#open = null;
    if (open === null) return;
    const { call } = open;
    if (call === null) {
      const { text } = open.arguments;
      this.#isUnnamed ||= open.name === '' && !isNone(text) && text.trim() !== '{}';
      return;
    }
    if (open.isText)
      this.#pass({ type: 'arguments', index: call.index, text: JSON.stringify({ input: open.arguments.text }) });
    else if (open.input) this.#closeInput(call, open);
    else if (call.kind === 'function' && isNone(open.arguments.text)) {
      this.#pass({ type: 'arguments', index: call.index, text: '{}' });
    } else if (call.kind === 'function' && this.#isBroken(call, open.arguments.text)) this.#break(call, open);
    if (this.#broken === null) this.#pass({ type: 'call-end', index: call.index });
  }

  #break({ index }: CallEvent, { name }: OpenCall): void {
    this.#broken = { index, error: brokenArguments(name) };
  }

  #closeInput(call: CallEvent, open: OpenCall): void {
    const { index } = call;
    const { input, arguments: all } = open;
    const callArguments = all.text;
    if (isCutInput(callArguments)) this.#break(call, open);
    else if (input?.hasReturnedNothing) this.#pass({ type: 'arguments', index, text: customInput(callArguments) });
  }

  #isBroken({ ownType }: CallEvent, callArguments: string): boolean {
    const isWanted = this.#context.conversation.client.wantsWholeArguments || ownType !== undefined;
    return isWanted && !isWholeObject(callArguments);
  }

  #stop(stop: Stop): void {
    while (this.#open !== null && !this.#isOver) {
      this.#close();
      this.#releaseWaiting();
    }
    if (this.#broken) this.#endBroken(this.#broken, stop);
    if (this.#isOver) return;
    if (stop.reason === 'malformed' || (this.#isUnnamed && !isCut(stop))) this.#fail(malformedCall);
    else this.#pass({ type: 'stop', stop: this.#settled(stop) });
  }

  #settled(stop: Stop): Stop {
    const isTold = this.#context.conversation.client.hasRefusals || !this.#hasRefused;
    return isTold || isLimit(stop) ? settledStop(stop, this.#hasCalls) : { ...stop, reason: 'filter' };
  }

  /** A call that the answer's limit or a filter cut off is no damage: the stop tells of it. */
  #endBroken({ index, error }: { index: number; error: AnswerError }, stop: Stop): void {
    this.#broken = null;
    if (isCut(stop)) this.#pass({ type: 'call-end', index, isCut: true });
    else this.#fail(error);
  }

  #fail(error: AnswerError): void {
    this.#pass({ type: 'error', error });
    this.#isOver = true;
  }

  #pass(event: AnswerEvent): void {
    if (this.#isOver) return;
    this.#out.push(event);
    if (event.type === 'text') this.#text.add(event.text);
    else if (event.type === 'media') this.#text.add(pictureAsText(event.part));
    else if (event.type === 'end') this.#isOver = true;
  }
}

/** What shows nothing of how an answer goes on after a broken call. */
const saysNothing: ReadonlySet<AnswerEvent['type']> = new Set(['usage', 'stop', 'passage', 'source']);

function isLimit({ reason }: Stop): boolean {
  return reason === 'length' || reason === 'window';
}

function isCut(stop: Stop): boolean {
  return isLimit(stop) || stop.reason === 'filter';
}

/** The call to which the event adds; undefined if it adds to none. */
function indexOfCall(event: AnswerEvent): number | undefined {
  if (event.type === 'arguments' || event.type === 'call-end') return event.index;
  return event.type === 'seal' ? event.call : undefined;
}

/** Some services send blanks or `null` for a call without arguments. */
function isNone(callArguments: string): boolean {
  const text = callArguments.length > 16 ? callArguments.slice(0, 16).trim() : callArguments.trim();
  return text === '' || text === 'null';
}

/** What can be passed on of arguments to which `text` is added: nothing as long as they may be `null`. */
function pastNull(open: OpenCall, text: string): string {
  if (!open.arguments.isEmpty && open.held === '') return text;
  const all = open.held + text;
  const mayBeNull = all.length <= 16 && 'null'.startsWith(all.trim());
  open.held = mayBeNull ? all : '';
  return mayBeNull ? '' : all;
}

/** In characters; as in `PartialAnswer`. Of a longer text only the length is kept. */
const maxLength = 512 * 1024;

/** In characters. Each of many citations may have all of the text. */
const maxQuoted = 1024 * 1024;

/** The text of an answer as its client has it, to find the places in it to which seals and citations refer. */
class AnswerText {
  #text = new GrowingText();
  #forgotten = 0;
  #passage = 0;
  #bytes = new ByteOffsets();
  #quoted = 0;

  add(text: string): void {
    this.#text.add(text);
    this.#limit();
  }

  /** @param escaped the inside of a JSON string */
  addEscaped(escaped: string): void {
    this.#text.addEscaped(escaped);
    this.#limit();
  }

  get length(): number {
    return this.#forgotten + this.#text.text.length;
  }

  beginPassage(): void {
    this.#passage = this.length;
  }

  /** Null for a place that is none: empty, unknown, or with another text than its upstream says. */
  placeOf(place: SourcePlace | null): CitedPlace | null {
    if (place === null) return null;
    const [start, end] = this.#rangeOf(place);
    return start >= 0 && end > start ? { start, end, quote: this.#quote(start, end) } : null;
  }

  #rangeOf(place: SourcePlace): [start: number, end: number] {
    if (place.unit === 'characters') return [place.start, place.end];
    if (place.unit === 'passage') return [this.#passage, this.length];
    if (this.#forgotten > 0) return nowhere;
    const { text } = this.#text;
    this.#bytes.extend(text);
    for (const startByte of place.starts) {
      const start = this.#bytes.characterAt(startByte);
      const end = this.#bytes.characterAt(startByte + place.length);
      const isThere = start !== -1 && end !== -1 && (place.text === null || text.slice(start, end) === place.text);
      if (isThere) return [start, end];
    }
    return nowhere;
  }

  #quote(start: number, end: number): CitedPlace['quote'] {
    const { text } = this.#text;
    if (this.#forgotten > 0 || end > text.length) return null;
    this.#bytes.extend(text);
    this.#quoted += end - start;
    const said = this.#quoted <= maxQuoted ? text.slice(start, end) : null;
    return { startByte: this.#bytes.at(start), endByte: this.#bytes.at(end), text: said };
  }

  #limit(): void {
    if (this.#text.length <= maxLength || this.#text.text.length <= maxLength) return;
    this.#forgotten += this.#text.text.length;
    this.#text = new GrowingText();
    this.#bytes = new ByteOffsets();
  }
}

const nowhere: [number, number] = [-1, -1];

/** Where each character of a growing text is in its UTF-8. The second half of a pair is where the pair begins. */
class ByteOffsets {
  readonly #offsets = [0];

  /** @param text what was given before, and more */
  extend(text: string): void {
    let at = this.#offsets.length - 1;
    let bytes = this.at(at);
    for (let code = text.codePointAt(at); code !== undefined; code = text.codePointAt(at)) {
      const isHalf = code >= 0xd800 && code < 0xdc00;
      if (isHalf && at === text.length - 1) return;
      if (code > 0xffff) {
        this.#offsets.push(bytes);
        at++;
      }
      bytes += byteLengthOf(code);
      this.#offsets.push(bytes);
      at++;
    }
  }

  at(character: number): number {
    return this.#offsets[character] ?? this.#offsets.at(-1) ?? 0;
  }

  /** -1 if no character begins there. */
  characterAt(byte: number): number {
    let low = 0;
    let high = this.#offsets.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle) < byte) low = middle + 1;
      else high = middle;
    }
    return this.#offsets[low] === byte ? low : -1;
  }
}

function byteLengthOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code > 0xffff ? 4 : 3;
}
