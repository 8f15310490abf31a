/** Streams of chat and legacy completions. */
import type { ErrorBody } from '../../../contract/errors.ts';
import { isObject } from '../../../contract/is-object.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import type { StreamEvent } from '../../core/sse-event.ts';
import type { EventMeaning, StreamClose, StreamEnd, StreamFormat, StreamWatch } from '../../core/stream-format.ts';
import { endOfLine, sseFraming } from '../../core/streams/sse-framing.ts';
import { JsonNames } from '../../json/json-names.ts';
import { peekJson } from '../../json/json-peek.ts';
import { chatErrorIn, errorMeaningOf, writeError } from './formats.ts';

/** Streams of chat and legacy completions. */
export const chatStream: StreamFormat = {
  framing: sseFraming,
  meaningOf: ({ value }) => {
    if (!isObject(value)) return nothing;
    const error = chatErrorIn(value);
    if (error) return value.error ? { kind: 'error', error } : { kind: 'error', error, isForeign: true };
    return errorMeaningOf(value) ?? (isAnswering(value) ? content : nothing);
  },
  readEnd: (end) => {
    const [, finish_reason] = finishInEnd.exec(end) ?? [];
    return finish_reason && { choices: [{ index: 0, text: 'of the event', finish_reason }] };
  },
  watch: (choices) => new ChatWatch(choices),
  writeError,
  fromWhole: chatStreamFromWhole,
  withoutUsage,
  mayBeginEarly: true,
  isDecidedByResponse: false,
};

/** Within a string, its quotes would be escaped. */
const finishInEnd = boundedPattern(/"finish_reason"\s{0,9}:\s{0,9}"([a-z_]{1,60})"/);
const nothing: EventMeaning = { kind: 'nothing' };
const content: EventMeaning = { kind: 'content' };

/**
 * Chat chunks have no type. `[DONE]` ends them, as does an error chunk. If an upstream omits `[DONE]`, each choice needs
 * its `finish_reason` and the stream its proper end.
 */
class ChatWatch implements StreamWatch {
  readonly #choices: number;
  readonly #finished = new Set<unknown>();
  /**
   * Choices whose last chunk held nothing but a `finish_reason`; an upstream may send a reason with each piece of text or
   * reasoning.
   */
  readonly #closed = new Set<unknown>();
  /** Choices that went on after a `finish_reason`, which therefore means nothing but in a chunk of its own. */
  readonly #continuedChoices = new Set<unknown>();
  #ending: StreamEnd | null = null;

  constructor(choices: number) {
    this.#choices = choices;
  }

  note({ data, value }: StreamEvent): void {
    if (data === '[DONE]') this.#ending ??= 'complete';
    if (!isObject(value)) return;
    if (chatErrorIn(value)) this.#ending = 'failed';
    for (const choice of choicesOf(value)) {
      const says = saysSomething(choice);
      if (says && this.#finished.has(choice?.index)) this.#continuedChoices.add(choice?.index);
      if (choice?.finish_reason) this.#finished.add(choice.index);
      if (says) this.#closed.delete(choice?.index);
      else if (choice?.finish_reason) this.#closed.add(choice.index);
    }
  }

  counted(): void {}

  get isComplete(): boolean {
    return this.#ending !== null || this.#closed.size >= this.#choices;
  }

  get hasFinished(): boolean {
    return this.#ending === 'complete' || this.saysWhy;
  }

  get saysWhy(): boolean {
    return this.#finished.size >= this.#choices;
  }

  get mayContinue(): boolean {
    return this.#ending === null;
  }

  get isWhole(): boolean {
    const isWhole = (choice: unknown) => this.#closed.has(choice) || !this.#continuedChoices.has(choice);
    return this.#ending !== 'failed' && this.saysWhy && [...this.#finished].every(isWhole);
  }

  get missingEnd(): string {
    return this.#ending === null ? doneEvent : '';
  }

  ending(close: StreamClose): StreamEnd | null {
    return this.#ending ?? (close === 'ended' && this.saysWhy ? 'complete' : null);
  }

  errorEvent(error: ErrorBody): string {
    return chatErrorEvent(error);
  }
}

const doneEvent = 'data: [DONE]\n\n';

export function chatErrorEvent(error: ErrorBody): string {
  return `data: ${JSON.stringify({ error })}\n\n`;
}

function isAnswering(chunk: Record<string, unknown>): boolean {
  return choicesOf(chunk).some((choice) => choice?.finish_reason || saysSomething(choice));
}

/** The known members of a choice in a chat chunk. */
interface Choice {
  index?: unknown;
  text?: unknown;
  delta?: unknown;
  finish_reason?: unknown;
}

/** Limit of parallel choices; clients never ask for more. */
export const maxChoices = 256;

function choicesOf({ choices }: Record<string, unknown>): readonly (Choice | null)[] {
  return Array.isArray(choices) ? choices.slice(0, maxChoices) : [];
}

/** Whether a choice contains more than its end. */
function saysSomething(choice: Choice | null): boolean {
  return Boolean(choice?.text) || hasMore(choice?.delta);
}

/** Any non-empty member of a delta counts, except for the role. */
function hasMore(delta: unknown): boolean {
  if (typeof delta !== 'object' || delta === null) return false;
  return Object.entries(delta).some(([name, value]) => name !== 'role' && !isEmpty(value));
}

/** Snowflake sends `"function_call":{"name":"","arguments":""}` beside each text: members that are there and say nothing. */
function isEmpty(value: unknown): boolean {
  return !value || (typeof value === 'object' && Object.values(value).every((member) => !member));
}

/** The end of nearly every such event: the last member of its object, then the blank line. */
const usualEnd = Buffer.from(',"usage":null}\n\n');
const keptOfUsualEnd = Buffer.from('}\n\n');
const lookedFor = new JsonNames(['usage', 'choices']);
const usageKey = Buffer.from('"usage"');
const dataField = boundedPattern(/^data: ?/m);
const comma = 0x2c;
const openingBracket = 0x5b;

/**
 * Removes usage from a chat stream if Sluice asked for it and the client did not, so that the client's bytes are the
 * same as without: drops the extra chunk (`"choices":[]` with usage) and the `"usage":null` that all other chunks then
 * carry. Events without the raw text `"usage"` are not examined.
 *
 * An `EventFilter`.
 */
export function withoutUsage(event: Buffer): Buffer | null {
  const usualAt = event.length - usualEnd.length;
  if (usualAt > 0 && event.compare(usualEnd, 0, usualEnd.length, usualAt) === 0) return shortened(event, usualAt);
  if (!event.includes(usageKey)) return event;
  const start = payloadStart(event);
  if (start === -1) return event;
  const payload = event.subarray(start, endOfLine(event, start));
  const peek = peekJson(payload, lookedFor);
  const usage = peek.ok ? peek.fields.get('usage') : undefined;
  const choices = peek.ok ? peek.fields.get('choices') : undefined;
  if (!usage) return event;
  const isNull = payload[usage.start] === 0x6e;
  if (isNull) return withoutRange(event, start + usage.keyStart, start + usage.end);
  const noChoices = choices?.items === 0 && payload[choices.start] === openingBracket;
  return noChoices ? null : event;
}

/** Avoids searching and parsing, which would be most of the cost of a stream at full speed. */
function shortened(event: Buffer, at: number): Buffer {
  const rest = Buffer.allocUnsafe(at + keptOfUsualEnd.length);
  event.copy(rest, 0, 0, at);
  keptOfUsualEnd.copy(rest, at);
  return rest;
}

/** For a `data:` event of one line; anything else is left unchanged. */
function payloadStart(event: Buffer): number {
  const match = dataField.exec(event.toString('latin1', 0, 200));
  return match ? match.index + match[0].length : -1;
}

/** Removes a member together with its comma. */
function withoutRange(event: Buffer, from: number, to: number): Buffer {
  const before = skipSpaceBack(event, from);
  if (event[before - 1] === comma) return Buffer.concat([event.subarray(0, before - 1), event.subarray(to)]);
  const after = skipSpace(event, to);
  const end = event[after] === comma ? after + 1 : to;
  return Buffer.concat([event.subarray(0, from), event.subarray(end)]);
}

const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

function skipSpaceBack(bytes: Buffer, offset: number): number {
  let at = offset;
  while (isSpace(bytes[at - 1])) at--;
  return at;
}

function skipSpace(bytes: Buffer, offset: number): number {
  let at = offset;
  while (isSpace(bytes[at])) at++;
  return at;
}

type Json = Record<string, unknown>;

/**
 * The stream of a whole answer, for an upstream that ignores `stream: true`. Without it, SDKs would report a stream with
 * neither events nor an error. Null for anything else than a chat or legacy completion.
 */
function chatStreamFromWhole(answer: Json): string | null {
  return Array.isArray(answer.choices) ? chatEvents(answer, answer.choices.filter(isObject)) : null;
}

/** Includes a usage chunk, which is removed again if the client did not ask for it. */
function chatEvents({ choices: _, usage, ...shared }: Json, choices: readonly Json[]): string {
  const head = { ...shared, object: shared.object === 'text_completion' ? shared.object : 'chat.completion.chunk' };
  const chunks: Json[] = [{ ...head, choices: choices.map(contentOf) }];
  const endings = choices.filter(({ message }) => isObject(message)).map(endOf);
  if (endings.length > 0) chunks.push({ ...head, choices: endings });
  if (usage) chunks.push({ ...head, choices: [], usage });
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
}

/** In a legacy completion, text has the same place with and without streaming. */
function contentOf({ message, ...choice }: Json): Json {
  if (!isObject(message)) return choice;
  const { tool_calls: calls, ...delta } = message;
  const numbered = Array.isArray(calls) ? { tool_calls: calls.map((call, index) => ({ index, ...call })) } : {};
  return { ...choice, delta: { ...delta, ...numbered }, finish_reason: null };
}

function endOf({ index, finish_reason }: Json): Json {
  return { index, delta: {}, logprobs: null, finish_reason: finish_reason ?? 'stop' };
}
