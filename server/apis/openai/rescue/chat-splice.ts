import { TextMatch } from '../../core/requests/text-match.ts';
import type { Splice, SpliceOptions } from '../../core/stream-text.ts';
import { parseObject } from '../../json/parse-object.ts';
import type { ChatChunk, PartialChat } from './chat-text.ts';
import { doneEvent, readChunk } from './chat-text.ts';

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
