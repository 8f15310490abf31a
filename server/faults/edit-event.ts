/** Changes the JSON of one event, or of a whole answer, of any API. */
import { boundedPattern } from '../ground/bounded-pattern.ts';

type Json = Record<string, unknown>;

const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The position of the JSON object in an event; null if it has none. */
function objectIn(bytes: Buffer): { start: number; end: number } | null {
  const start = bytes.indexOf(openBrace);
  const end = bytes.lastIndexOf(closeBrace) + 1;
  return start === -1 || end <= start ? null : { start, end };
}

/**
 * The event with the edited value. Returns the same bytes if the event has no JSON object, is nested too deeply, or
 * `edit` returns false.
 */
export function editJson(bytes: Buffer, edit: (value: Json) => boolean): Buffer {
  const range = objectIn(bytes);
  if (!range) return bytes;
  const text = changedText(bytes.toString('utf8', range.start, range.end), edit);
  if (text === null) return bytes;
  return Buffer.concat([bytes.subarray(0, range.start), Buffer.from(text), bytes.subarray(range.end)]);
}

function changedText(text: string, edit: (value: Json) => boolean): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && edit(value) ? JSON.stringify(value) : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The event with only the first half of its JSON, which no client can parse. */
export function halfOf(bytes: Buffer): Buffer {
  const { start, end } = objectIn(bytes) ?? { start: 0, end: bytes.length };
  return Buffer.concat([bytes.subarray(0, start + Math.ceil((end - start) / 2)), bytes.subarray(end)]);
}

/** The event with an additional member of this size, which clients ignore. */
export function enlargeEvent(bytes: Buffer, by: number): Buffer {
  return editJson(bytes, (value) => {
    value.padding = 'x'.repeat(by);
    return true;
  });
}

const usageNames = ['usage', 'usageMetadata'];
type UsageChange = 'omit' | 'zero' | 'double';

/** Usage is at the top level, or in the `message` or `response` of an event. */
export function changeUsage(value: Json, change: UsageChange): boolean {
  const holders = [value, value.message, value.response].filter(isObject);
  let hasChanged = false;
  for (const holder of holders) {
    for (const name of usageNames) {
      if (!isObject(holder[name])) continue;
      hasChanged = true;
      if (change === 'omit') delete holder[name];
      else scale(holder[name], change === 'zero' ? 0 : 2);
    }
  }
  return hasChanged;
}

function scale(counts: Json, factor: number): void {
  for (const [name, count] of Object.entries(counts)) {
    if (typeof count === 'number') counts[name] = count * factor;
    else if (isObject(count)) scale(count, factor);
  }
}

/** Rewrites the end of an answer as if a content filter had stopped it, in the format of its API. */
export function filterContent(value: Json): boolean {
  const response = isObject(value.response) ? value.response : value;
  if (response.status === 'completed' && 'output' in response) {
    response.status = 'incomplete';
    response.incomplete_details = { reason: 'content_filter' };
    if (value.type === 'response.completed') value.type = 'response.incomplete';
    return true;
  }
  const choices = [value.choices, value.candidates].flatMap((list) => (Array.isArray(list) ? list : []));
  const holders = [...choices, value.delta, value].filter(isObject);
  return holders.map(filterEnd).some(Boolean);
}

const filteredAs: Readonly<Record<string, string>> = {
  finish_reason: 'content_filter',
  stop_reason: 'refusal',
  finishReason: 'SAFETY',
};

function filterEnd(holder: Json): boolean {
  const name = Object.keys(filteredAs).find((each) => typeof holder[each] === 'string');
  if (name === undefined) return false;
  holder[name] = filteredAs[name];
  return true;
}

const textNames = new Set(['content', 'text', 'delta', 'arguments', 'partial_json', 'thinking', 'reasoning_content']);
const charactersPerToken = 4;

/** In all APIs, texts are at most this deep in an event. */
const maxDepth = 12;

/** Approximate number of tokens in the event; 0 if it has no text. */
export function tokensIn(event: unknown): number {
  return Math.ceil(charactersIn(event, '', 0) / charactersPerToken);
}

function charactersIn(value: unknown, name: string, depth: number): number {
  if (typeof value === 'string') return textNames.has(name) ? value.length : 0;
  if (depth > maxDepth) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + charactersIn(each, name, depth + 1), 0);
  if (!isObject(value)) return 0;
  return Object.entries(value).reduce((sum, [each, inside]) => sum + charactersIn(inside, each, depth + 1), 0);
}

const endOfAnswer = boundedPattern(/"(?:finish_reason|stop_reason|finishReason)"\s{0,4}:\s{0,4}"/);
/** Whether the event states how the answer ended. */
export const isEndOfAnswer = (event: string): boolean => endOfAnswer.test(event);

const callArguments = boundedPattern(
  /"arguments"\s{0,4}:\s{0,4}"[^"]|"input_json_delta"|function_call_arguments\.delta|"functionCall"/,
);
/** Whether the event contains arguments of a tool call. */
export const hasCallArguments = (event: string): boolean => callArguments.test(event);
