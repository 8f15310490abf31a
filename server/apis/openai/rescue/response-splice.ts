/**
 * Rewrites the events of a second response as a continuation of the first stream: with its ids and sequence numbers, and
 * without what the client already has. Output indexes may differ: reasoning before the second message is dropped, and
 * later items move up.
 */
import { isObject } from '../../../contract/is-object.ts';
import { TextMatch } from '../../core/requests/text-match.ts';
import type { Splice } from '../../core/stream-text.ts';
import { parseObject } from '../../json/parse-object.ts';
import type { OutputItem, PartialResponse } from './response-text.ts';

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
