/** Assembles the events of a Responses stream. */

import { isObject } from '../is-object.ts';
import { type Json, numberOf, objectOf, objectsOf, textOf } from './json-values.ts';

const ends = ['response.completed', 'response.failed', 'response.incomplete'];

/** The last event contains the whole response. Without it, returns the items as far as they were received. */
export function assembleResponse(events: readonly Json[]): { answer: Json; isComplete: boolean } {
  const last = events.findLast(({ type }) => ends.includes(textOf(type)));
  const items = itemsOf(events);
  if (last && isObject(last.response)) {
    // If the final response has no items, those received before are used.
    const output = Array.isArray(last.response.output) && last.response.output.length > 0 ? {} : { output: items };
    return { answer: { ...last.response, ...output }, isComplete: true };
  }
  const created = objectOf(events.find(({ response }) => isObject(response))?.response);
  return { answer: { ...created, output: items }, isComplete: false };
}

function itemsOf(events: readonly Json[]): Json[] {
  const items = new Map<number, Json>();
  for (const event of events) {
    const index = numberOf(event.output_index) ?? 0;
    const item = items.get(index);
    switch (event.type) {
      case 'response.output_item.added':
      case 'response.output_item.done':
        items.set(index, structuredClone(objectOf(event.item)));
        break;
      case 'response.function_call_arguments.delta':
        if (item) item.arguments = textOf(item.arguments) + textOf(event.delta);
        break;
      case 'response.custom_tool_call_input.delta':
        if (item) item.input = textOf(item.input) + textOf(event.delta);
        break;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        if (item) addText(item, event);
    }
  }
  return [...items.entries()].sort(([one], [other]) => one - other).map(([, item]) => item);
}

const partTypes: Record<string, { list: string; type: string; member: string }> = {
  'response.output_text.delta': { list: 'content', type: 'output_text', member: 'text' },
  'response.refusal.delta': { list: 'content', type: 'refusal', member: 'refusal' },
  'response.reasoning_text.delta': { list: 'content', type: 'reasoning_text', member: 'text' },
  'response.reasoning_summary_text.delta': { list: 'summary', type: 'summary_text', member: 'text' },
};

function addText(item: Json, event: Json): void {
  const part = partTypes[textOf(event.type)];
  if (!part) return;
  const index = numberOf(event.content_index) ?? numberOf(event.summary_index) ?? 0;
  const list = objectsOf(item[part.list]);
  const old = list[index];
  const text = textOf(old?.[part.member]) + textOf(event.delta);
  const newPart = { ...old, type: part.type, [part.member]: text };
  if (old) list[index] = newPart;
  else list.push(newPart);
  item[part.list] = list;
}
