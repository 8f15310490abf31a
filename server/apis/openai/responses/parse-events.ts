/** Parses the stream of a response. Source: OpenAI's API reference, "Streaming events". */
import { isObject } from '../../../contract/is-object.ts';
import { tellErrorWithin } from '../../core/errors/verdict.ts';
import type { StreamEvent } from '../../core/sse-event.ts';
import { entryOf } from '../../core/table-entry.ts';
import { errorIn } from '../../core/upstream-error.ts';
import type { EventParser } from '../../neutral/answers/wire-translation.ts';
import { type AnswerEvent, type DeltaEvent, EventUsage, type Stop } from '../../neutral/neutral-answer.ts';
import { responseReports } from '../usage/usage-shapes.ts';
import { type ContentKind, SeenItems } from './seen-items.ts';
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
