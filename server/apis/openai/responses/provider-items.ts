/**
 * Converts items of tools that OpenAI runs itself into parts that any model can read. Other APIs have no calls of such
 * tools, but the results are part of the conversation. Source: OpenAI's API reference, "Create a model response",
 * `input`.
 */

import type { MediaPart, Part } from '../../neutral/conversation.ts';
import type { Fields } from '../../neutral/fields.ts';
import { writeJson } from '../../neutral/json-text.ts';
import { refuse } from '../../neutral/losses.ts';
import { kindOfMediaType, sourceOfData, sourceOfUrl } from '../../neutral/media.ts';

/** The field of each item type that contains its results. Other items contain nothing that a model could read. */
const outputNames: Readonly<Record<string, string>> = {
  code_interpreter_call: 'outputs',
  file_search_call: 'results',
  mcp_call: 'output',
};

/** @throws GatewayError `invalid_value` for a compacted history, which only OpenAI can decrypt */
export function parseProviderItem(item: Fields, type: string): Part {
  const { at } = item;
  if (type.startsWith('compaction')) refuse(at, 'provider-item');
  const image = type === 'image_generation_call' ? item.text('result') : undefined;
  if (image !== undefined) {
    const source = sourceOfData(`image/${item.text('output_format') ?? 'png'}`, image);
    return { type: 'media', kind: 'image', source, at };
  }
  const name = Object.hasOwn(outputNames, type) ? outputNames[type] : undefined;
  const output = name === undefined ? undefined : item.any(name);
  if (output === undefined) return { type: 'foreign', name: type, at };
  item.losses.emulated(at, 'as-text');
  const result = typeof output === 'string' ? output : writeJson(output);
  return { type: 'text', isApart: true, text: `Result of ${type.slice(0, -'_call'.length)}:\n${result}`, at };
}

/** Reads the screenshot from the output of a computer call; undefined for any other output. */
export function parseScreenshot(item: Fields): MediaPart | undefined {
  if (item.text('type') !== 'computer_call_output') return undefined;
  const output = item.fields('output');
  const at = item.path('output');
  const id = output?.text('file_id');
  if (id !== undefined) return { type: 'media', kind: 'image', source: { type: 'file', id }, at };
  const url = output?.text('image_url');
  if (url === undefined) return undefined;
  const source = sourceOfUrl(url);
  return { type: 'media', kind: source.type === 'base64' ? kindOfMediaType(source.mediaType) : 'image', source, at };
}
