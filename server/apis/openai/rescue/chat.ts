/** How a chat that broke off is continued: what its client has of it, and the chunks of a second one in its place. */

import type { ErrorBody } from '../../../contract/errors.ts';
import { isObject } from '../../../contract/is-object.ts';
import type { StreamEvent } from '../../core/stream-format.ts';
import { type Splice, type SpliceOptions, TextMatch } from '../../core/wire.ts';
import { parseObject } from '../../json/parse-object.ts';
import { chatErrorEvent, maxChoices } from '../wire/streams.ts';
import { TextBytes } from './text-bytes.ts';

interface ChatSpliceOptions extends SpliceOptions {
  soFar: PartialChat;
}

/** Rewrites the chunks of a second chat or legacy completion as a continuation of the first stream. */
export class ChatSplice implements Splice {
  readonly upstreamId = null;
  isFinished = false;
  readonly #options: ChatSpliceOptions;
  readonly #match: TextMatch;

  constructor(options: ChatSpliceOptions) {
    this.#options = options;
    this.#match = new TextMatch(options.soFar.text, options.isContinuation);
  }

  get isDifferent(): boolean {
    return this.#match.isDifferent;
  }

  take(data: string): Buffer | null {
    if (data === '[DONE]') return this.#match.isBeyond ? doneEvent : null;
    const chunk = readChunk(parseObject(data));
    return chunk && this.#takeChunk(chunk);
  }

  #takeChunk(chunk: ChatChunk): Buffer | null {
    const [choice] = chunk.choices;
    if (!choice) return this.#match.isBeyond ? this.#passUsage(chunk) : null;
    const more = this.#match.take(choice.text, choice.isFinished || !choice.isPlain);
    if (more === null) return null;
    this.isFinished ||= choice.isFinished;
    return this.#renamed(chunk, more);
  }

  #renamed({ value }: ChatChunk, content: string): Buffer {
    const [choice] = Array.isArray(value.choices) ? value.choices : [];
    if (choice && 'text' in choice)
      return this.#toEvent({ ...value, choices: [{ ...choice, index: 0, text: content }] });
    const { role: _role, reasoning: _r, reasoning_content: _c, reasoning_details: _d, ...delta } = { ...choice?.delta };
    const text = content === '' && delta.content === undefined ? {} : { content };
    return this.#toEvent({ ...value, choices: [{ ...choice, index: 0, delta: { ...delta, ...text } }] });
  }

  #passUsage({ value }: ChatChunk): Buffer | null {
    return this.#options.stripUsage ? null : this.#toEvent(value);
  }

  #toEvent(value: Record<string, unknown>): Buffer {
    const { id, created, model } = this.#options.soFar;
    const { usage: _usage, ...rest } = value;
    const fields = this.#options.stripUsage ? rest : value;
    return Buffer.from(`data: ${JSON.stringify({ ...fields, id, created, model })}\n\n`);
  }
}

const doneEvent = Buffer.from('data: [DONE]\n\n');

export interface PartialChat {
  text: string;
  /** From the first chunk; later chunks must repeat them. */
  id: unknown;
  created: unknown;
  model: unknown;
  /** Its `finish_reason` has arrived: only the end of the stream is missing. */
  isFinished: boolean;
}

/** A `StreamText`. */
export class ChatText {
  readonly lastEvent = doneEvent;
  #first: Pick<PartialChat, 'id' | 'created' | 'model'> | undefined;
  #isFinished = false;
  readonly #text = new TextBytes();
  /** Nothing but the text of one choice: no tool call, audio or second choice. */
  #isPlain = true;

  take(event: StreamEvent | null): string {
    if (!this.#isPlain || (event && event.value === undefined)) return '';
    const chunk = readChunk(event?.value);
    this.#isPlain = chunk?.choices.every((choice) => choice.isPlain) ?? false;
    if (!chunk || !this.#isPlain) return '';
    if (!this.#first && chunk.id) this.#first = { id: chunk.id, created: chunk.created, model: chunk.model };
    this.#isFinished ||= chunk.choices.some((choice) => choice.isFinished);
    const text = chunk.choices.map((choice) => choice.text).join('');
    this.#isPlain = this.#text.appendText(text);
    return text;
  }

  append(bytes: Buffer, start: number, end: number): void {
    this.#isPlain &&= this.#text.append(bytes, start, end);
  }

  counted(): void {}

  /** Null if the stream cannot be continued. */
  read(): PartialChat | null {
    const text = this.#text.read();
    if (!this.#isPlain || !this.#first || text === null) return null;
    return { ...this.#first, text, isFinished: this.#isFinished };
  }

  errorEvent(error: ErrorBody): string {
    return chatErrorEvent(error);
  }
}

interface ChatChunk {
  /** The parsed chunk, from which the sent one is made. */
  value: Record<string, unknown>;
  id: unknown;
  created: unknown;
  model: unknown;
  choices: readonly { text: string; isFinished: boolean; isPlain: boolean }[];
}

/** Null for anything but a chat or completion chunk. */
function readChunk(value: unknown): ChatChunk | null {
  if (!isObject(value) || value.error) return null;
  const { choices } = value;
  if (!Array.isArray(choices) || choices.length > maxChoices) return null;
  return { value, id: value.id, created: value.created, model: value.model, choices: choices.map(readChoice) };
}

/** Members that are harmless in a text assembled from two streams. */
const plainMembers = new Set(['role', 'content', 'refusal', 'reasoning', 'reasoning_content', 'reasoning_details']);

function readChoice(choice: unknown): ChatChunk['choices'][number] {
  if (typeof choice !== 'object' || choice === null) return { text: '', isFinished: false, isPlain: false };
  const delta = 'delta' in choice && typeof choice.delta === 'object' && choice.delta !== null ? choice.delta : {};
  const content = 'content' in delta ? delta.content : 'text' in choice ? choice.text : null;
  const isOdd = Object.entries(delta).some(([name, value]) => value !== null && !plainMembers.has(name));
  const isRefusal = 'refusal' in delta && Boolean(delta.refusal);
  const isFirst = !('index' in choice) || choice.index === 0;
  const isText = typeof content === 'string' || content === null || content === undefined;
  return {
    text: typeof content === 'string' ? content : '',
    isFinished: 'finish_reason' in choice && Boolean(choice.finish_reason),
    isPlain: isFirst && isText && !isOdd && !isRefusal,
  };
}
