/** Parses the stream of a response. Source: OpenAI's API reference, "Streaming events". */
import { isObject } from '../../../contract/is-object.ts';
import { tellErrorWithin } from '../../core/errors/verdict.ts';
import type { StreamEvent } from '../../core/sse-event.ts';
import { errorIn } from '../../core/upstream-error.ts';
import { EventUsage } from '../../neutral/answers/token-usage.ts';
import type { EventParser } from '../../neutral/answers/wire-translation.ts';
import type { AnswerEvent } from '../../neutral/neutral-answer.ts';
import { responseReports } from '../usage/usage-shapes.ts';
import { sealOf } from './parse-answer.ts';
import { parseResponseStop } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

const ends = ['response.completed', 'response.incomplete'];
/** Items whose content arrives in deltas, or as a whole at their end. */
const contentItems = ['message', 'reasoning', 'function_call', 'custom_tool_call'];

export class ResponsesEventParser implements EventParser {
  readonly #usage = new EventUsage(responseReports);
  #hasBegun = false;
  /** Items with at least one delta, by `output_index`. */
  readonly #withDeltas = new Set<unknown>();
  /** The reasoning item whose thoughts are being emitted. */
  #thinkingIndex: unknown;

  push({ name, value }: StreamEvent): AnswerEvent[] {
    if (!isObject(value)) return [];
    const type = typeof value.type === 'string' ? value.type : name;
    if (type === 'error' || type === 'response.failed' || value.error) {
      return [{ type: 'error', error: tellErrorWithin(errorIn(value)) }];
    }
    const startEvents = this.#begin(value);
    return [...startEvents, ...this.#take(type, value)];
  }

  /** A stream without its terminal event was cut off. */
  end(): AnswerEvent[] {
    return [];
  }

  #begin({ response }: Json): AnswerEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    return [{ type: 'start', id: isObject(response) && typeof response.id === 'string' ? response.id : '' }];
  }

  #take(type: string, event: Json): AnswerEvent[] {
    const { delta, output_index: index, item } = event;
    if (ends.includes(type)) return this.#finish(event);
    if (type === 'response.output_item.added') return isObject(item) ? this.#addItem(index, item) : [];
    if (type === 'response.output_item.done') return isObject(item) ? this.#endItem(index, item) : [];
    if (type === 'response.reasoning_summary_part.added') return this.#nextThought(index);
    if (type === 'response.output_text.annotation.added') return [{ type: 'foreign', name: 'annotations' }];
    if (typeof delta !== 'string' || delta === '') return [];
    this.#withDeltas.add(index);
    if (type === 'response.output_text.delta') return [{ type: 'text', text: delta }];
    if (type === 'response.refusal.delta') return [{ type: 'refusal', text: delta }];
    if (type === 'response.function_call_arguments.delta' || type === 'response.custom_tool_call_input.delta') {
      return [{ type: 'arguments', index: Number(index), text: delta }];
    }
    const isThought = type === 'response.reasoning_summary_text.delta' || type === 'response.reasoning_text.delta';
    if (!isThought) return [];
    this.#thinkingIndex = index;
    return [{ type: 'thinking', text: delta }];
  }

  #addItem(index: unknown, item: Json): AnswerEvent[] {
    if (item.type !== 'function_call' && item.type !== 'custom_tool_call') return [];
    const kind = item.type === 'custom_tool_call' ? 'custom' : 'function';
    return [
      { type: 'call', index: Number(index), id: String(item.call_id ?? ''), name: String(item.name ?? ''), kind },
    ];
  }

  /** Parts of a summary are separated like paragraphs. */
  #nextThought(index: unknown): AnswerEvent[] {
    return this.#thinkingIndex === index && index !== undefined ? [{ type: 'thinking', text: '\n\n' }] : [];
  }

  /** Emits the content of an item for which no deltas arrived. */
  #endItem(index: unknown, item: Json): AnswerEvent[] {
    const hasDeltas = this.#withDeltas.has(index);
    if (item.type === 'reasoning') {
      const thought: AnswerEvent[] = hasDeltas
        ? []
        : textsOf(item.summary, 'text').map((text) => ({ type: 'thinking', text }));
      return [...thought, { type: 'seal', seal: sealOf(item) }];
    }
    if (item.type === 'message') {
      return hasDeltas ? [] : textsOf(item.content, 'text').map((text) => ({ type: 'text', text }));
    }
    if (!contentItems.includes(String(item.type))) return [{ type: 'foreign', name: String(item.type) }];
    const callArguments = String((item.type === 'custom_tool_call' ? item.input : item.arguments) ?? '');
    const call = Number(index);
    const whole: AnswerEvent[] =
      hasDeltas || callArguments === '' ? [] : [{ type: 'arguments', index: call, text: callArguments }];
    return [...whole, { type: 'call-end', index: call }];
  }

  #finish(event: Json): AnswerEvent[] {
    const response = isObject(event.response) ? event.response : {};
    const stop: AnswerEvent = { type: 'stop', stop: parseResponseStop(response) };
    return [stop, ...this.#usage.eventsOf(event), { type: 'end' }];
  }
}

function textsOf(parts: unknown, name: string): string[] {
  const texts = (Array.isArray(parts) ? parts.filter(isObject) : []).map((part) => part[name]);
  return texts.filter((text) => typeof text === 'string').filter((text) => text !== '');
}
