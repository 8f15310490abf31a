/**
 * The end of a conversation: who speaks last, which step of an agent's turn a request is, and which tools have
 * answered.
 */
import type { RequestSession, ToolResult } from '../../../contract/ledger.ts';
import { JsonNames } from '../../json/json-names.ts';
import {
  type JsonField,
  type JsonPeek,
  type Member,
  membersOfBeginning,
  membersOfEnd,
  peekJson,
} from '../../json/json-peek.ts';
import { type ByteRange, isEscaped } from '../../json/json-scan.ts';
import type { RawField, RequestView } from '../wire.ts';

/** Of the APIs of OpenAI and Anthropic, of OpenAI's Responses, of Gemini. */
export const turnFields = ['messages', 'input', 'contents'] as const;

type TurnField = (typeof turnFields)[number];

export interface Turns extends RawField {
  /** Whose a message is that does not say so; null if each has to. */
  defaultRole: 'user' | null;
}

/**
 * Where a request has its conversation, and whose a message of it is. Pure.
 *
 * The messages of a conversation, or a text in their place; null if the request has neither.
 */
export function turnsIn(body: RequestView<TurnField>): Turns | null {
  const messages = body.raw('messages') ?? body.raw('input');
  if (messages) return { ...messages, defaultRole: null };
  const contents = body.raw('contents');
  // Google, "Content": the role is optional, and the user's by default.
  return contents && { ...contents, defaultRole: 'user' };
}

/** What a request of Responses adds to its conversation. */
export function inputOf(body: RequestView<'input'>): RawField | null {
  return body.raw('input');
}

/** Of a longer last message, such as one with a picture, only the ends are examined. */
const maxBytes = 256 * 1024;
/** How many texts, brackets and commas of the last message are passed on the way to its beginning. */
const maxSteps = 256 * 1024;
/** Marks are near the beginning of a part; a part of at least this length is text or an image. */
const markedBytes = 64 * 1024;
const quote = 0x22;
const names = new JsonNames(['role', 'type']);
/** Anthropic, Gemini (in both spellings that it accepts), Converse. A quote within a text is escaped, so no text looks like these. */
const resultMark = /"(?:tool_result|functionResponse|function_response|toolResult)"/;

/** Whether the conversation ends with a person's message or with tool results. */
export function turnStepOf(body: RequestView<TurnField>): RequestSession['step'] {
  const turns = turnsIn(body);
  if (!turns) return null;
  const { bytes: messages, defaultRole } = turns;
  if (messages[0] === quote) return 'prompt';
  const last = lastElement(messages, { maxSteps });
  if (!last) return null;
  const message = messages.subarray(last.start, last.end);
  const marks = marksOf(message);
  if (!marks) return null;
  const role = marks.role ?? defaultRole;
  // OpenAI's Responses: `function_call_output`, `custom_tool_call_output`, `local_shell_call_output` …
  if (role === 'tool' || role === 'function' || marks.type?.endsWith('_output')) return 'tools';
  const beginning = message.subarray(0, markedBytes);
  // If a program writes members by name, those of a long result come after its content.
  const ends = message.length > maxBytes ? [beginning, message.subarray(-markedBytes)] : [beginning];
  if (ends.some((bytes) => resultMark.test(bytes.toString('latin1')))) return 'tools';
  return role === 'user' ? 'prompt' : null;
}

/** Undefined for a member that the message does not have. */
interface Marks {
  role: string | null | undefined;
  type: string | null | undefined;
}

/** Null if it is no message. */
function marksOf(message: Buffer): Marks | null {
  if (message.length > maxBytes) return { role: textAtEnds(message, 'role'), type: textAtEnds(message, 'type') };
  const peek = peekJson(message, names);
  if (!peek.ok) return null;
  const [role, type] = [peek.fields.get('role'), peek.fields.get('type')];
  return { role: role && shortText(message, role), type: type && shortText(message, type) };
}

function textAtEnds(message: Buffer, name: string): string | null | undefined {
  const beginning = message.subarray(0, markedBytes);
  const end = message.subarray(-markedBytes);
  return textIn(beginning, membersOfBeginning(beginning, name)) ?? textIn(end, membersOfEnd(end, name));
}

function textIn(bytes: Buffer, members: readonly Member[]): string | null | undefined {
  const member = members.findLast(({ level }) => level === 1);
  if (!member) return undefined;
  return shortText(bytes, { start: member.start, end: bytes.indexOf(quote, member.start + 1) + 1 });
}

// Finds the tool results at the end of a request, and the calls that they answer. Reads backwards from the end of
// the conversation, no further than the answer that made the calls.

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

const comma = 0x2c;
const openers = new Set<number | undefined>([0x5b, 0x7b]);
const closers = new Set<number | undefined>([0x5d, 0x7d]);

/** What may be read of an element: its length, and the bytes outside of texts with the quotes within them. */
interface ElementLimits {
  maxBytes?: number;
  maxSteps?: number;
}

/**
 * The range of a list's last element, with surrounding white space; null if the list is empty, or the element exceeds the
 * limits. Reads backwards, so the cost depends on the element and not on the list. `list`: valid JSON from `[` to `]`.
 */
export function lastElement(
  list: Buffer,
  { maxBytes = Number.POSITIVE_INFINITY, maxSteps = Number.POSITIVE_INFINITY }: ElementLimits,
): ByteRange | null {
  const end = list.length - 1;
  const first = Math.max(0, end - maxBytes);
  const walk = { leftSteps: maxSteps };
  let depth = 0;
  for (let at = end - 1; at > first; at--) {
    if (--walk.leftSteps < 0) return null;
    const byte = list[at];
    if (byte === quote) at = openingQuote(list, at, walk);
    else if (closers.has(byte)) depth++;
    else if (openers.has(byte)) depth--;
    else if (byte === comma && depth === 0) return { start: at + 1, end };
  }
  return first > 0 || list.subarray(1, end).toString('latin1').trim() === '' ? null : { start: 1, end };
}

/** The ranges of a list's elements from the last one on, as long as they are no longer than `maxBytes` together. */
function* elementsFromEnd(list: Buffer, maxBytes: number): Generator<ByteRange, void, undefined> {
  let rest = list;
  let leftBytes = maxBytes;
  for (;;) {
    const element = lastElement(rest, { maxBytes: leftBytes });
    if (!element) return;
    yield element;
    leftBytes -= element.end - element.start;
    // The rest ends with the comma before the element, which takes the place of the closing bracket.
    rest = rest.subarray(0, element.start);
  }
}

/** Offset of the quote that opens the string which `closing` ends, unless it has more quotes than steps are left. */
function openingQuote(list: Buffer, closing: number, walk: { leftSteps: number }): number {
  let at = closing - 1;
  while (at > 0 && walk.leftSteps-- > 0) {
    at = list.lastIndexOf(quote, at);
    if (at <= 0 || !isEscaped(list, 0, at)) break;
    at--;
  }
  return at;
}

/** Longer values are not names. */
const maxTextBytes = 256;

/** The text of a JSON string in `bytes`; null if there is none, it is another value, or it is long. */
function shortText(bytes: Buffer, range: ByteRange | undefined): string | null {
  if (!range || range.end - range.start > maxTextBytes) return null;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8', range.start, range.end));
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}
