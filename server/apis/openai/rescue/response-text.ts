/**
 * What a client has of a streamed response, so that another target can continue it: one text message, preceded by nothing
 * but reasoning.
 */
import type { ErrorBody } from '../../../contract/errors.ts';
import { isObject } from '../../../contract/is-object.ts';
import type { StreamEvent } from '../../core/sse-event.ts';
import { responseErrorEvents } from '../wire/typed-stream.ts';
import { TextBytes } from './text-bytes.ts';

/** An item of a response's output. */
export type OutputItem = Record<string, unknown>;

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

/** A `StreamText`. */
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
