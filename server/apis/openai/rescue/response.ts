/**
 * How a response that broke off is continued: what its client has of it, and the events of a second one in its place.
 */

import type { ErrorBody } from '../../../contract/errors.ts';
import { isObject } from '../../../contract/is-object.ts';
import type { StreamEvent } from '../../core/stream-format.ts';
import { type Splice, TextMatch } from '../../core/wire.ts';
import { parseObject } from '../../json/parse-object.ts';
import { responseErrorEvents } from '../wire/streams.ts';
import { TextBytes } from './text-bytes.ts';

type Event = Record<string, unknown>;
/** An item's index in the first response's output; `message`: the item that the client has begun to read. */
type Position = number | 'left out' | 'message';

export class ResponseSplice implements Splice {
  upstreamId: string | null = null;
  isFinished = false;
  readonly #soFar: PartialResponse;
  readonly #match: TextMatch;
  /** Keyed by the second response's index. */
  readonly #positions = new Map<unknown, Position>();
  #hasMessage = false;
  #hasOddity = false;
  #hasClosed = false;
  #nextIndex: number;
  #sequenceNumber: number | null;

  constructor(soFar: PartialResponse) {
    this.#soFar = soFar;
    this.#match = new TextMatch(soFar.text, false);
    this.#nextIndex = soFar.nextIndex;
    this.#sequenceNumber = soFar.nextSequenceNumber;
  }

  get isDifferent(): boolean {
    return this.#hasOddity || this.#match.isDifferent;
  }

  take(data: string): Buffer | null {
    const event = parseObject(data);
    if (!event) return null;
    const { type, response } = event;
    if (isObject(response)) {
      if (typeof response.id === 'string') this.upstreamId = response.id;
      const isEnd = type === 'response.completed' || type === 'response.incomplete';
      return isEnd ? this.#finish(event, response) : null;
    }
    return 'output_index' in event ? this.#takeOfItem(event) : null;
  }

  #takeOfItem(event: Event): Buffer | null {
    const { type, output_index: index, item } = event;
    if (type === 'response.output_item.added')
      this.#positions.set(index, this.#positionOf(isObject(item) ? item.type : null));
    const position = this.#positions.get(index);
    if (position === undefined) this.#hasOddity = true;
    if (this.#hasOddity || position === 'left out') return null;
    return position === 'message' ? this.#takeOfMessage(event) : this.#send({ ...event, output_index: position });
  }

  #positionOf(type: unknown): Position {
    const { message, before, open } = this.#soFar;
    const isAhead = message !== null && !this.#hasMessage;
    if (type === 'reasoning' && (isAhead || (!message && (open || before.length > 0)))) return 'left out';
    if (isAhead && type === 'message') {
      this.#hasMessage = true;
      return 'message';
    }
    this.#hasOddity ||= isAhead;
    return this.#nextIndex++;
  }

  #takeOfMessage(event: Event): Buffer | null {
    const { type, content_index: part = 0, delta } = event;
    if (type === 'response.output_item.added') return null;
    // A further part of the same message.
    if (part !== 0 && this.#match.isBeyond) return this.#sendOfMessage(event);
    if (type === 'response.output_text.delta') return this.#takeDelta(event, typeof delta === 'string' ? delta : '');
    if (type === 'response.output_text.done') this.#match.take('', true);
    const isRefusal = isObject(event.part) && event.part.type !== 'output_text';
    this.#hasOddity ||= part !== 0 || isRefusal;
    return this.isDifferent || this.#has(type) ? null : this.#sendOfMessage(event);
  }

  #takeDelta(event: Event, delta: string): Buffer | null {
    const more = this.#match.take(delta, false);
    if (more === null) return null;
    this.#hasOddity ||= more !== '' && this.#has('response.output_text.done');
    return this.#sendOfMessage(more === delta ? event : { ...event, delta: more, logprobs: [] });
  }

  #has(type: unknown): boolean {
    return typeof type === 'string' && this.#soFar.message?.events.has(type) === true;
  }

  #sendOfMessage(event: Event): Buffer | null {
    const { message } = this.#soFar;
    if (!message) return null;
    const { id } = message.item;
    const names = { output_index: message.index, ...('item_id' in event && { item_id: id }) };
    const item = isObject(event.item) ? { item: { ...event.item, id } } : {};
    return this.#send({ ...event, ...names, ...item });
  }

  #finish(event: Event, response: Record<string, unknown>): Buffer | null {
    if (this.#soFar.message) {
      this.#hasOddity ||= !this.#hasMessage;
      this.#match.take('', true);
    }
    if (this.isDifferent) return null;
    this.isFinished = true;
    const { id, created_at, model, previous_response_id } = this.#soFar.response;
    const names = { id, created_at, model, previous_response_id };
    const output = Array.isArray(response.output) ? { output: this.#wholeOutput(response.output) } : {};
    return this.#send({ ...event, response: { ...response, ...names, ...output } });
  }

  #wholeOutput(output: readonly unknown[]): unknown[] {
    const { before, open, message } = this.#soFar;
    const own = output.flatMap((item, index) => {
      const position = this.#positions.get(index);
      if (position === 'left out') return [];
      if (position !== 'message' || !message) return [item];
      return this.#has('response.output_item.done') ? [message.item] : [{ ...toItem(item), id: message.item.id }];
    });
    return [...before, ...(open ? [closed(open.item)] : []), ...own];
  }

  #send(event: Event): Buffer {
    const { open } = this.#soFar;
    const isFirst = open !== null && !this.#hasClosed;
    this.#hasClosed = true;
    const type = 'response.output_item.done';
    const closing = isFirst ? this.#toEvent({ type, output_index: open.index, item: closed(open.item) }) : '';
    return Buffer.from(closing + this.#toEvent(event));
  }

  #toEvent({ sequence_number: _theirs, ...event }: Event): string {
    const numberedEvent = this.#sequenceNumber === null ? event : { ...event, sequence_number: this.#sequenceNumber++ };
    return `event: ${event.type}\ndata: ${JSON.stringify(numberedEvent)}\n\n`;
  }
}

const toItem = (item: unknown): OutputItem => (isObject(item) ? item : {});
const closed = (item: OutputItem): OutputItem => ('status' in item ? { ...item, status: 'completed' } : item);

/** An item of a response's output. */
type OutputItem = Record<string, unknown>;

export interface PartialResponse {
  text: string;
  /** Always false: only the final event reports usage, so a finished text still lacks it. */
  isFinished: false;
  storedId: string;
  /** As in `response.created`. */
  response: Record<string, unknown> & { id: string };
  /** Completed reasoning items. */
  before: readonly OutputItem[];
  /** A reasoning item that was added but has no content yet. */
  open: { item: OutputItem; index: number } | null;
  message: MessageSoFar | null;
  /** The first unused output index. */
  nextIndex: number;
  /** Null if the upstream sends no sequence numbers. */
  nextSequenceNumber: number | null;
}

interface MessageSoFar {
  item: OutputItem;
  index: number;
  /** Types of the text item's events that the client has received. */
  events: ReadonlySet<string>;
}

/**
 * What a client has of a streamed response, so that another target can continue it: one text message, preceded by
 * nothing but reasoning.
 *
 * A `StreamText`.
 */
export class ResponseText {
  readonly lastEvent = null;
  #isPlain = true;
  #response: PartialResponse['response'] | undefined;
  readonly #before: OutputItem[] = [];
  #open: { item: OutputItem; index: number; isBare: boolean } | null = null;
  #message: { item: OutputItem; index: number; events: Set<string> } | null = null;
  #nextIndex = 0;
  readonly #text = new TextBytes();
  #sequenceNumber: number | null = null;

  take(event: StreamEvent | null): string {
    if (event && event.value === undefined) return '';
    const value = isObject(event?.value) ? event.value : null;
    if (typeof value?.sequence_number === 'number') this.counted(value.sequence_number);
    this.#isPlain &&= value !== null && this.#isContinuedBy(value);
    if (!this.#isPlain || !value || value.output_index !== this.#message?.index) return '';
    const text = value.type === 'response.output_text.delta' && typeof value.delta === 'string' ? value.delta : '';
    this.#isPlain = this.#text.appendText(text);
    return text;
  }

  append(bytes: Buffer, start: number, end: number): void {
    this.#isPlain &&= this.#text.append(bytes, start, end);
  }

  counted(sequenceNumber: number): void {
    this.#sequenceNumber = sequenceNumber;
  }

  read(): PartialResponse | null {
    const text = this.#text.read();
    if (!this.#isPlain || !this.#response || this.#open?.isBare === false || text === null) return null;
    return {
      text,
      isFinished: false,
      storedId: this.#response.id,
      response: this.#response,
      before: this.#before,
      open: this.#open,
      message: this.#message,
      nextIndex: this.#nextIndex,
      nextSequenceNumber: this.#sequenceNumber === null ? null : this.#sequenceNumber + 1,
    };
  }

  errorEvent(error: ErrorBody): string {
    return responseErrorEvents(error, this.#response?.id, (this.#sequenceNumber ?? -1) + 1);
  }

  /** False if another target could not continue a stream with this event. */
  #isContinuedBy(event: Record<string, unknown>): boolean {
    const { type, response, output_index: index, item } = event;
    if (isObject(response) && typeof response.id === 'string') this.#response ??= { ...response, id: response.id };
    if (typeof index !== 'number') return type !== 'error' && type !== 'response.failed';
    if (type === 'response.output_item.added') return isObject(item) && this.#begin(item, index);
    if (index === this.#open?.index) return this.#takeOfReasoning(type, item);
    return index === this.#message?.index && this.#takeOfMessage(event, this.#message);
  }

  #begin(item: OutputItem, index: number): boolean {
    if (this.#message || this.#open) return false;
    this.#nextIndex = index + 1;
    if (item.type === 'reasoning') this.#open = { item, index, isBare: true };
    else this.#message = { item, index, events: new Set() };
    return item.type === 'reasoning' || (item.type === 'message' && isEmpty(item.content));
  }

  #takeOfReasoning(type: unknown, item: unknown): boolean {
    if (!this.#open) return false;
    this.#open.isBare = false;
    if (type !== 'response.output_item.done') return true;
    this.#before.push(isObject(item) ? item : this.#open.item);
    this.#open = null;
    return true;
  }

  #takeOfMessage(event: Record<string, unknown>, message: { item: OutputItem; events: Set<string> }): boolean {
    const { type, item, part } = event;
    if (typeof type !== 'string' || !plainTypes.has(type) || (event.content_index ?? 0) !== 0) return false;
    message.events.add(type);
    if (type === 'response.output_item.done' && isObject(item)) message.item = item;
    return !isObject(part) || part.type === 'output_text';
  }
}

const plainTypes = new Set([
  'response.content_part.added',
  'response.output_text.delta',
  'response.output_text.done',
  'response.content_part.done',
  'response.output_item.done',
]);

const isEmpty = (content: unknown) => !Array.isArray(content) || content.length === 0;
