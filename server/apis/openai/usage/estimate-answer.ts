/**
 * Estimates the number of tokens in a response's text from its kept end. Pure. The end of a longer response is
 * extrapolated to the whole, since the ratio of text to JSON is roughly constant.
 */

import { isObject } from '../../../contract/is-object.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { linesOf } from '../../core/sse-framing.ts';
import { estimateTokens } from '../../core/usage/prompt-estimate.ts';
import type { KeptAnswer } from '../../core/wire.ts';

/** Null if the response is neither JSON nor an event stream, or its work has only begun. An answer without text has 0. */
export function estimateAnswer({ tail, bytes, contentType }: Omit<KeptAnswer, 'head'>): number | null {
  if (eventStreamType.test(contentType)) return estimateStream(tail, bytes);
  return jsonType.test(contentType) && !isBinary(tail) ? estimateJson(tail, bytes) : null;
}

const eventStreamType = boundedPattern(/event-stream/i);
const jsonType = boundedPattern(/json/i);

function estimateStream(tail: Buffer, bytes: number): number {
  const lines = linesOf(tail.toString('utf8'));
  // The first line of a cut tail is incomplete.
  const whole = bytes > tail.length ? lines.slice(1) : lines;
  let readBytes = 0;
  let text = '';
  let unread = 0;
  for (const line of whole) {
    readBytes += Buffer.byteLength(line) + 1;
    const event = line.startsWith('data:') && unread < maxUnread ? readEvent(line.slice('data:'.length).trim()) : {};
    if (event) text += textOfEvent(event);
    else unread++;
  }
  const [cutLine = ''] = lines;
  if (text === '' && bytes > tail.length && isText(cutLine)) return scaled(tokensIn(cutLine), bytes, tail.length);
  return scaled(estimateTokens(text), bytes, Math.min(readBytes, tail.length));
}

const tokensIn = (json: string) => estimateTokens(unescaped(json));

/** The rest of one long event may also be that of an image or a sound, in base64. */
const otherThanBase64 = boundedPattern(/[^\w+/=\-"\]},:{[]/);
const isText = (piece: string) => otherThanBase64.test(piece);

/** Limit of unparsable lines: each costs an exception. */
const maxUnread = 100;

/** Null if it is not JSON. */
function readEvent(data: string): Fields | null {
  if (data === '[DONE]') return {};
  const event = data.startsWith('{') && data.endsWith('}') ? parse(data) : null;
  return isObject(event) ? event : null;
}

function textOfEvent(event: Fields): string {
  // Typed events contain every text twice: as deltas, and whole at its end.
  if (typeof event.delta === 'string') return textOf(event.type).includes('audio') ? '' : event.delta;
  return Array.isArray(event.choices) ? event.choices.map(textOfChoice).join('') : '';
}

function textOfChoice(choice: unknown): string {
  if (!isObject(choice)) return '';
  const message = isObject(choice.delta) ? choice.delta : choice.message;
  return `${textOf(choice.text)}${isObject(message) ? textOfMessage(message) : ''}`;
}

function textOfMessage(message: Fields): string {
  const { content, reasoning_content, reasoning, refusal, tool_calls } = message;
  // The same reasoning may stand under both names.
  const thought = textOf(reasoning_content) || textOf(reasoning);
  return `${thought}${textOf(content)}${textOf(refusal)}${Array.isArray(tool_calls) ? tool_calls.map(textOfCall).join('') : ''}`;
}

function textOfCall(call: unknown): string {
  if (!isObject(call)) return '';
  const calledFunction = isObject(call.function) ? call.function : call.custom;
  return isObject(calledFunction)
    ? `${textOf(calledFunction.name)}${textOf(calledFunction.arguments)}${textOf(calledFunction.input)}`
    : '';
}

function estimateJson(tail: Buffer, bytes: number): number | null {
  const text = tail.toString('utf8');
  const answer = bytes <= tail.length ? parse(text) : null;
  if (isObject(answer)) return isOnlyBegun(answer) ? null : estimateTokens(textOfAnswer(answer));
  return scaled(tokensIn(text), bytes, tail.length);
}

/** A background response: its usage is unknown until it is fetched again. */
const isOnlyBegun = ({ status }: Fields) => status === 'queued' || status === 'in_progress';

function textOfAnswer(answer: Fields): string {
  if (Array.isArray(answer.choices)) return answer.choices.map(textOfChoice).join('');
  if (Array.isArray(answer.output)) return answer.output.map(textOfItem).join('');
  return textOf(answer.text);
}

/** An output item of a response: a message with parts, a call, reasoning. */
function textOfItem(item: unknown): string {
  if (!isObject(item)) return '';
  const parts = [item.content, item.summary].flatMap((list) => (Array.isArray(list) ? list : []));
  const content = parts.map((part) => (isObject(part) ? `${textOf(part.text)}${textOf(part.refusal)}` : '')).join('');
  return `${textOf(item.name)}${textOf(item.arguments)}${content}`;
}

/** Decodes the escapes in a piece of JSON, since `\n` or `\u4e2d` is one character and not two or six. */
function unescaped(json: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = json.indexOf('\\'); at !== -1; at = json.indexOf('\\', from)) {
    parts.push(json.slice(from, at));
    const code = json[at + 1] === 'u' ? Number(`0x${json.slice(at + 2, at + 6)}`) : Number.NaN;
    const sign = json[at + 1] ?? '';
    if (!Number.isNaN(code)) parts.push(String.fromCharCode(code));
    else parts.push('nrtbf/'.includes(sign) ? ' ' : sign);
    from = at + (Number.isNaN(code) ? 2 : 6);
  }
  parts.push(json.slice(from));
  return parts.join('');
}

/** No model generates more in one answer; anything longer contains images, audio or damaged data. */
const maxTokens = 262_144;

const scaled = (tokens: number, whole: number, part: number) =>
  part === 0 || whole <= part ? tokens : Math.min(maxTokens, Math.round((tokens * whole) / part));

/** A body that was compressed without being requested so cannot be read. */
const isBinary = (bytes: Buffer) => bytes.subarray(0, 64).some((byte) => byte < 0x09);

type Fields = Record<string, unknown>;

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
