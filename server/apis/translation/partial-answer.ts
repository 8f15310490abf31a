/** The content that a client has received of a translated stream, so that another attempt can continue it. */
import { TextMatch } from '../core/requests/text-match.ts';
import { GrowingText } from '../neutral/answers/growing-text.ts';
import type { AnswerEvent } from '../neutral/neutral-answer.ts';
import { isUnbound } from '../neutral/requests/carried-reasoning.ts';

/** In characters. About 128,000 tokens, the output limit of today's largest models. */
const maxLength = 512 * 1024;

/**
 * Only text can be combined from two answers. A tool call that has begun cannot: its arguments would come from two
 * models. Signed reasoning cannot either: the signature covers the answer of the model that was cut off.
 */
const harmless: ReadonlySet<AnswerEvent['type']> = new Set([
  'start',
  'text',
  'thinking',
  'usage',
  'foreign',
  'citation',
]);

const alwaysPassed: ReadonlySet<AnswerEvent['type']> = new Set(['usage', 'error', 'citation']);

export class PartialAnswer {
  #text = new GrowingText();
  #isPlain = true;

  take(event: AnswerEvent): void {
    if (event.type === 'text') {
      this.#text.add(event.text);
      this.#limit();
    } else if (!harmless.has(event.type) && !(event.type === 'seal' && isUnbound(event.seal))) this.#isPlain = false;
  }

  /** Adds text, given as the inside of a JSON string. */
  append(escaped: string): void {
    this.#text.addEscaped(escaped);
    this.#limit();
  }

  /**
   * The text, if the client has received nothing but text and unsigned thoughts; null if the answer cannot be
   * continued.
   */
  get text(): string | null {
    return this.#isPlain ? this.#text.text : null;
  }

  #limit(): void {
    if (this.#text.length <= maxLength || this.#text.text.length <= maxLength) return;
    this.#isPlain = false;
    this.#text = new GrowingText();
  }
}

/** Reduces another attempt's answer to the part that the client lacks. */
export class AnswerRemainder {
  readonly #match: TextMatch;

  /** @param text the text that the client has received */
  constructor(text: string) {
    this.#match = new TextMatch(text, false);
  }

  /** Whether the answer extends beyond the text that the client has; everything that follows is for the client. */
  get hasBegun(): boolean {
    return this.#match.isBeyond;
  }

  /** Whether the answer contradicts the text that the client has. */
  get isDifferent(): boolean {
    return this.#match.isDifferent;
  }

  /**
   * The part of the event that is for the client; null if there is none. Reasoning is not passed on, because the
   * client's text resulted from other reasoning.
   */
  take(event: AnswerEvent): AnswerEvent | null {
    if (this.isDifferent) return null;
    if (this.hasBegun || alwaysPassed.has(event.type)) return event;
    if (event.type === 'text') {
      const more = this.#match.take(event.text, false);
      return more === null ? null : { type: 'text', text: more };
    }
    if (harmless.has(event.type) || event.type === 'seal') return null;
    return this.#match.take('', true) === null ? null : event;
  }
}
