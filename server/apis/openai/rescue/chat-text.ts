/** What a client has of a chat or legacy completion, so that another target can continue it. */
import type { ErrorBody } from '../../../contract/errors.ts';
import { isObject } from '../../../contract/is-object.ts';
import type { StreamEvent } from '../../core/sse-event.ts';
import { chatErrorEvent, maxChoices } from '../wire/chat-stream.ts';
import { TextBytes } from './text-bytes.ts';

export const doneEvent = Buffer.from('data: [DONE]\n\n');

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

export interface ChatChunk {
  /** The parsed chunk, from which the sent one is made. */
  value: Record<string, unknown>;
  id: unknown;
  created: unknown;
  model: unknown;
  choices: readonly { text: string; isFinished: boolean; isPlain: boolean }[];
}

/** Null for anything but a chat or completion chunk. */
export function readChunk(value: unknown): ChatChunk | null {
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
