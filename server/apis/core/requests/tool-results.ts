/**
 * Finds the tool results at the end of a request, and the calls that they answer. Reads backwards from the end of the
 * conversation, no further than the answer that made the calls.
 */
import type { ToolResult } from '../../../contract/ledger.ts';
import { JsonNames } from '../../json/json-names.ts';
import { type JsonField, type JsonPeek, peekJson } from '../../json/json-peek.ts';
import type { ByteRange } from '../../json/json-scan.ts';
import { elementsFromEnd, shortText } from '../../json/last-element.ts';
import type { RequestView } from '../wire.ts';
import { type TurnField, turnsIn } from './turn-step.ts';

/** How much of the end of a conversation is examined. */
const maxBytes = 256 * 1024;
/** The maximum number of items examined: results, calls, and reasoning between them. */
const maxItems = 64;
const maxResults = 32;
const openingBracket = 0x5b;

const itemNames = new JsonNames([
  'role',
  'type',
  'content',
  'parts',
  'output',
  'name',
  'id',
  'call_id',
  'tool_call_id',
  'tool_calls',
]);
/** Of a part of a message, or of a call in `tool_calls`. */
const partNames = new JsonNames([
  'type',
  'id',
  'name',
  'content',
  'tool_use_id',
  'is_error',
  'function',
  'functionResponse',
  'function_response',
  'toolResult',
  'toolUse',
]);
const innerNames = new JsonNames(['name', 'response', 'toolUseId', 'content', 'status', 'error']);

interface FoundResult extends ToolResult {
  callId: string | null;
}

type Fields = Extract<JsonPeek, { ok: true }>['fields'];

/** In the order of the request; the latest 32 if there are more. */
export function toolResultsOf(body: RequestView<TurnField>): ToolResult[] {
  const messages = turnsIn(body)?.bytes;
  if (messages?.[0] !== openingBracket) return [];
  const results: FoundResult[] = [];
  const calls = new Map<string, string>();
  let items = 0;
  for (const range of elementsFromEnd(messages, maxBytes)) {
    const item = messages.subarray(range.start, range.end);
    const fields = fieldsOf(item, itemNames);
    if (!fields || ++items > maxItems) break;
    const found = calls.size > 0 ? [] : resultsIn(item, fields);
    results.push(...found);
    if (found.length > 0) continue;
    // The calls precede their results, and results of earlier calls precede these.
    if (!readCalls(item, fields, calls) || results.every(({ callId }) => callId === null || calls.has(callId))) break;
  }
  const latest = results.slice(0, maxResults).reverse();
  return latest.map(({ callId, name, bytes, hasFailed }) => ({
    name: name ?? (callId === null ? null : (calls.get(callId) ?? null)),
    bytes,
    hasFailed,
  }));
}

/** The results in one item of a conversation, the last one first. */
function resultsIn(item: Buffer, fields: Fields): FoundResult[] {
  const role = shortText(item, fields.get('role'));
  const name = shortText(item, fields.get('name'));
  // Chat completions.
  if (role === 'tool' || role === 'function') {
    const callId = shortText(item, fields.get('tool_call_id'));
    return [{ callId, name, bytes: lengthOf(fields.get('content')), hasFailed: false }];
  }
  // Responses: `function_call_output`, `custom_tool_call_output` …
  if (shortText(item, fields.get('type'))?.endsWith('_output')) {
    const callId = shortText(item, fields.get('call_id'));
    return [{ callId, name, bytes: lengthOf(fields.get('output')), hasFailed: false }];
  }
  return partsOf(item, fields)
    .map((part) => resultIn(part))
    .filter((result) => result !== null);
}

/** A part of a message of Anthropic's, Gemini's or Converse's. */
function resultIn(part: Buffer): FoundResult | null {
  const fields = fieldsOf(part, partNames);
  if (!fields) return null;
  if (shortText(part, fields.get('type')) === 'tool_result') {
    const callId = shortText(part, fields.get('tool_use_id'));
    const hasFailed = textOf(part, fields.get('is_error')) === 'true';
    return { callId, name: null, bytes: lengthOf(fields.get('content')), hasFailed };
  }
  const gemini = innerOf(part, fields.get('functionResponse') ?? fields.get('function_response'));
  if (gemini) {
    const response = innerOf(gemini.bytes, gemini.fields.get('response'));
    const name = shortText(gemini.bytes, gemini.fields.get('name'));
    const hasFailed = response?.fields.has('error') ?? false;
    return { callId: null, name, bytes: lengthOf(gemini.fields.get('response')), hasFailed };
  }
  const converse = innerOf(part, fields.get('toolResult'));
  if (!converse) return null;
  return {
    callId: shortText(converse.bytes, converse.fields.get('toolUseId')),
    name: null,
    bytes: lengthOf(converse.fields.get('content')),
    hasFailed: shortText(converse.bytes, converse.fields.get('status')) === 'error',
  };
}

/** Adds the names of the calls in an item, by their ids. False if the conversation need not be read further back. */
function readCalls(item: Buffer, fields: Fields, calls: Map<string, string>): boolean {
  const type = shortText(item, fields.get('type'));
  if (type?.endsWith('_call')) {
    const name = shortText(item, fields.get('name')) ?? type.slice(0, -'_call'.length);
    calls.set(shortText(item, fields.get('call_id')) ?? '', name);
    return true;
  }
  for (const call of [...listOf(item, fields.get('tool_calls')), ...partsOf(item, fields)]) readCall(call, calls);
  return type === 'reasoning';
}

function readCall(call: Buffer, calls: Map<string, string>): void {
  const fields = fieldsOf(call, partNames);
  if (!fields) return;
  const functionPart = innerOf(call, fields.get('function'));
  const toolUsePart = innerOf(call, fields.get('toolUse'));
  const id = toolUsePart
    ? shortText(toolUsePart.bytes, toolUsePart.fields.get('toolUseId'))
    : shortText(call, fields.get('id'));
  const inner = functionPart ?? toolUsePart;
  const name = inner ? shortText(inner.bytes, inner.fields.get('name')) : shortText(call, fields.get('name'));
  if (id !== null && name !== null) calls.set(id, name);
}

/** Last one first. */
function partsOf(item: Buffer, fields: Fields): Buffer[] {
  return listOf(item, fields.get('content') ?? fields.get('parts'));
}

/** The latest elements of a list, the last one first; empty for other values. */
function listOf(item: Buffer, field: JsonField | undefined): Buffer[] {
  if (!field || item[field.start] !== openingBracket) return [];
  const list = item.subarray(field.start, field.end);
  const elements: Buffer[] = [];
  for (const { start, end } of elementsFromEnd(list, maxBytes)) {
    if (elements.push(list.subarray(start, end)) === maxItems) break;
  }
  return elements;
}

function innerOf(bytes: Buffer, field: JsonField | undefined): { bytes: Buffer; fields: Fields } | null {
  if (!field) return null;
  const inner = bytes.subarray(field.start, field.end);
  const fields = fieldsOf(inner, innerNames);
  return fields && { bytes: inner, fields };
}

function fieldsOf(bytes: Buffer, names: JsonNames): Fields | null {
  const peek = peekJson(bytes, names);
  return peek.ok ? peek.fields : null;
}

function lengthOf(range: ByteRange | undefined): number {
  return range ? range.end - range.start : 0;
}

function textOf(bytes: Buffer, range: ByteRange | undefined): string {
  return range ? bytes.toString('latin1', range.start, Math.min(range.end, range.start + 8)) : '';
}
