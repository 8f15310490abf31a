/** What a client has of a translated stream, so that another attempt can continue it. */
import { TextMatch } from '../wire/text-match.ts';
import { opensAnywhere } from './carried-reasoning.ts';
import { GrowingText } from './growing-text.ts';
import type { AnswerEvent } from './neutral-answer.ts';

/** In characters. About 128,000 tokens, the output limit of today's largest models. */
const maxLength = 512 * 1024;

/**
 * Only text can be assembled from two answers. A tool call that has begun cannot: its arguments would be those of two
 * models. Signed reasoning cannot either: the signature covers the answer of the model that was cut off.
 */
const harmless: ReadonlySet<AnswerEvent['type']> = new Set(['start', 'text', 'thinking', 'usage', 'foreign']);

export class AnswerSoFar {
  #text = new GrowingText();
  #isPlain = true;

  take(event: AnswerEvent): void {
    if (event.type === 'text') {
      this.#text.add(event.text);
      this.#limit();
    } else if (!harmless.has(event.type) && !(event.type === 'seal' && opensAnywhere(event.seal)))
      this.#isPlain = false;
  }

  /** Adds a text that is the inside of a JSON string. */
  append(escaped: string): void {
    this.#text.addEscaped(escaped);
    this.#limit();
  }

  /** The text, if that and unsigned thoughts are all that the client has; null if the answer cannot be continued. */
  get text(): string | null {
    return this.#isPlain ? this.#text.text : null;
  }

  #limit(): void {
    if (this.#text.length <= maxLength || this.#text.text.length <= maxLength) return;
    this.#isPlain = false;
    this.#text = new GrowingText();
  }
}

/** Reduces another attempt's answer to what the client lacks. */
export class RestOfAnswer {
  readonly #match: TextMatch;

  /** @param text what the client has */
  constructor(text: string) {
    this.#match = new TextMatch(text, false);
  }

  /** The answer goes beyond what the client has; everything that follows is for the client. */
  get hasBegun(): boolean {
    return this.#match.isBeyond;
  }

  /** The answer contradicts what the client has. */
  get isDifferent(): boolean {
    return this.#match.isDifferent;
  }

  /**
   * The part of the event that the client lacks; null for none. Other reasoning led to this answer, so it is not shown.
   */
  take(event: AnswerEvent): AnswerEvent | null {
    if (this.isDifferent) return null;
    if (this.hasBegun || event.type === 'usage' || event.type === 'error') return event;
    if (event.type === 'text') {
      const more = this.#match.take(event.text, false);
      return more === null ? null : { type: 'text', text: more };
    }
    if (harmless.has(event.type) || event.type === 'seal') return null;
    return this.#match.take('', true) === null ? null : event;
  }
}
