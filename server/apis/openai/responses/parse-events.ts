/** Parses the stream of a response. Source: OpenAI's API reference, "Streaming events". */
import { isObject } from '../../../contract/is-object.ts';
import { tellErrorWithin } from '../../core/errors/verdict.ts';
import type { StreamEvent } from '../../core/sse-event.ts';
import { entryOf } from '../../core/table-entry.ts';
import { errorIn } from '../../core/upstream-error.ts';
import { EventUsage } from '../../neutral/answers/token-usage.ts';
import type { EventParser } from '../../neutral/answers/wire-translation.ts';
import type { Seal } from '../../neutral/conversation.ts';
import type { AnswerEvent } from '../../neutral/neutral-answer.ts';
import { responseReports } from '../usage/usage-shapes.ts';
import { parseResponseStop } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

const ends = ['response.completed', 'response.incomplete'];
/** Items of conversations. All others are of tools that the provider runs. */
const contentItems = ['message', 'reasoning', 'function_call', 'custom_tool_call'];

/** The kind of content that an event adds to. Its parts of an item are told apart by the second member. */
const deltaKinds: Record<string, { kind: 'text' | 'refusal' | 'thinking' | 'arguments'; part: string }> = {
  'response.output_text.delta': { kind: 'text', part: 'content_index' },
  'response.refusal.delta': { kind: 'refusal', part: 'content_index' },
  'response.reasoning_summary_text.delta': { kind: 'thinking', part: 'summary_index' },
  'response.reasoning_text.delta': { kind: 'thinking', part: 'content_index' },
  'response.function_call_arguments.delta': { kind: 'arguments', part: '' },
  'response.custom_tool_call_input.delta': { kind: 'arguments', part: '' },
};

/** What of an item has been passed on. */
interface SeenItem {
  /** Its `output_index`. */
  index: unknown;
  /** Empty until an event tells it. */
  type: string;
  isCalled: boolean;
  isDone: boolean;
  /** Parts whose deltas have arrived: the member that counts them, and the number; without it, all of that member. */
  parts: Set<string>;
  /** The part of a thought that was added to last. */
  thought: string | null;
}

/**
 * Items come in deltas, as a whole at their end, or only in the last event, depending on the service; whatever has not been
 * passed on before is taken from the later event.
 */
export class ResponsesEventParser implements EventParser {
  readonly #usage = new EventUsage(responseReports);
  #hasBegun = false;
  /** By `output_index`, and by id where there is one: not all services number the last event's items alike. */
  readonly #items = new Map<unknown, SeenItem>();
  readonly #itemsById = new Map<unknown, SeenItem>();

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
    if (type === 'response.output_item.added') return isObject(item) ? this.#call(index, item) : [];
    if (type === 'response.output_item.done') return isObject(item) ? this.#endItem(index, item) : [];
    if (type === 'response.output_text.annotation.added') return this.#annotate(index, event.item_id);
    const deltaKind = entryOf(deltaKinds, type);
    if (deltaKind === undefined || typeof delta !== 'string' || delta === '') return [];
    const seen = this.#itemAt(index, event.item_id);
    const { kind, part } = deltaKind;
    if (kind === 'arguments') {
      // Without its beginning, the call is taken from the item's end.
      if (!seen.isCalled) return [];
      seen.parts.add(kind);
      return [{ type: kind, index: Number(index), text: delta }];
    }
    const name = `${part} ${event[part] ?? ''}`.trim();
    seen.parts.add(name);
    return kind === 'thinking' ? this.#think(seen, name, delta) : [{ type: kind, text: delta }];
  }

  #itemAt(index: unknown, id: unknown, type = ''): SeenItem {
    const unseen = { index, type, isCalled: false, isDone: false, parts: new Set<string>(), thought: null };
    const seen = this.#items.get(index) ?? unseen;
    seen.type ||= type;
    this.#items.set(index, seen);
    if (typeof id === 'string' && id !== '') this.#itemsById.set(id, seen);
    return seen;
  }

  #annotate(index: unknown, id: unknown): AnswerEvent[] {
    this.#itemAt(index, id).parts.add('annotations');
    return [{ type: 'foreign', name: 'annotations' }];
  }

  /** Parts of a thought are separated like paragraphs. */
  #think(seen: SeenItem, part: string, text: string): AnswerEvent[] {
    const isNext = seen.thought !== null && seen.thought !== part;
    seen.thought = part;
    return [...(isNext ? [{ type: 'thinking' as const, text: '\n\n' }] : []), { type: 'thinking', text }];
  }

  #call(index: unknown, item: Json): AnswerEvent[] {
    const seen = this.#itemAt(index, item.id, textOf(item.type));
    if (seen.isCalled || (item.type !== 'function_call' && item.type !== 'custom_tool_call')) return [];
    seen.isCalled = true;
    const kind = item.type === 'custom_tool_call' ? 'custom' : 'function';
    return [{ type: 'call', index: Number(index), id: textOf(item.call_id), name: textOf(item.name), kind }];
  }

  /** Emits the content of an item of which no deltas arrived. */
  #endItem(index: unknown, item: Json): AnswerEvent[] {
    const type = textOf(item.type);
    const seen = this.#itemAt(index, item.id, type);
    if (seen.isDone) return [];
    seen.isDone = true;
    if (!contentItems.includes(type)) return [{ type: 'foreign', name: type }];
    if (type === 'reasoning') return [...this.#restOfThought(seen, item), { type: 'seal', seal: sealOf(item) }];
    if (type === 'message') return this.#restOfMessage(seen, item);
    const callArguments = textOf(type === 'custom_tool_call' ? item.input : item.arguments);
    const call = Number(index);
    const whole: AnswerEvent[] =
      seen.parts.has('arguments') || callArguments === ''
        ? []
        : [{ type: 'arguments', index: call, text: callArguments }];
    return [...this.#call(index, item), ...whole, { type: 'call-end', index: call }];
  }

  #restOfThought(seen: SeenItem, item: Json): AnswerEvent[] {
    return ['summary', 'content'].flatMap((member) =>
      objectsIn(item[member]).flatMap(({ text }, at) => {
        const part = member === 'summary' ? 'summary_index' : 'content_index';
        const isNew = typeof text === 'string' && text !== '' && !hasPart(seen, part, at);
        return isNew ? this.#think(seen, `${part} ${at}`, text) : [];
      }),
    );
  }

  #restOfMessage(seen: SeenItem, item: Json): AnswerEvent[] {
    return objectsIn(item.content).flatMap((part, at): AnswerEvent[] => {
      const isText = part.type === 'output_text' || part.type === 'text';
      if (!isText && part.type !== 'refusal') return [{ type: 'foreign', name: textOf(part.type) }];
      const text = textOf(isText ? part.text : part.refusal);
      const isNew = text !== '' && !hasPart(seen, 'content_index', at);
      const said: AnswerEvent[] = isNew ? [{ type: isText ? 'text' : 'refusal', text }] : [];
      const isCited = isText && objectsIn(part.annotations).length > 0 && !seen.parts.has('annotations');
      return [...said, ...(isCited ? [{ type: 'foreign' as const, name: 'annotations' }] : [])];
    });
  }

  /** What the last event has and no earlier one had. */
  #restOf(output: readonly Json[]): AnswerEvent[] {
    const mayBeNew = this.#items.size < output.length;
    return output.flatMap((item, index) => {
      const sameId = this.#itemsById.get(item.id);
      const atIndex = this.#items.get(index);
      const seen = sameId ?? (atIndex && [item.type, ''].includes(atIndex.type) ? atIndex : undefined);
      if (seen?.isDone || (seen === undefined && !mayBeNew)) return [];
      return this.#endItem(seen ? seen.index : this.#items.size, item);
    });
  }

  #finish(event: Json): AnswerEvent[] {
    const response = isObject(event.response) ? event.response : {};
    const rest = this.#restOf(objectsIn(response.output));
    const stop: AnswerEvent = { type: 'stop', stop: parseResponseStop(response) };
    return [...rest, stop, ...this.#usage.eventsOf(event), { type: 'end' }];
  }
}

function hasPart({ parts }: SeenItem, name: string, at: number): boolean {
  return parts.has(`${name} ${at}`) || parts.has(name);
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

/** A whole response as its last event, which contains all of it. */
export function responseEvents(body: unknown): Json[] | null {
  if (!isObject(body) || !Array.isArray(body.output)) return null;
  return [{ type: body.status === 'failed' ? 'response.failed' : 'response.completed', response: body }];
}
