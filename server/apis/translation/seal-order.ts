/**
 * Keeps seals in an order that clients understand. Gemini signs a text after it, and OpenRouter may tell details after the
 * calls. To a client whose APIs have a block for each thought, such a seal would be an empty thought after the text, and
 * the end of the answer: Claude Code prints the last block, which is then nothing. So it waits for the next thought or
 * call. If none comes it is not passed on; `ReasoningCollector` has it if the answer has calls.
 */
import type { ClientApi } from '../neutral/client-api.ts';
import type { Seal } from '../neutral/conversation.ts';
import type { AnswerEvent } from '../neutral/neutral-answer.ts';

type SealEvent = Extract<AnswerEvent, { type: 'seal' }>;

export class SealOrder {
  readonly #takesLateSeals: boolean;
  /** Puts the seal of a text that is complete before it; false if it cannot. */
  readonly #sealText: (seal: Seal) => boolean;
  #waiting: SealEvent[] = [];
  #isThinking = false;
  #hasSpoken = false;
  #hasCalled = false;

  constructor({ takesLateSeals }: ClientApi, sealText: (seal: Seal) => boolean = () => false) {
    this.#takesLateSeals = takesLateSeals;
    this.#sealText = sealText;
  }

  /** The events to render in place of this one. */
  take(event: AnswerEvent): readonly AnswerEvent[] {
    switch (event.type) {
      case 'seal':
        return this.#takeSeal(event);
      case 'thinking':
        this.#isThinking = true;
        return this.#afterWaiting(event);
      case 'call':
        this.#hasCalled = true;
        return this.#afterSpeaking(this.#afterWaiting(event));
      case 'text':
      case 'refusal':
      case 'media':
        return this.#afterSpeaking(this.#waiting.some(sealsOther) ? [event] : this.#afterWaiting(event));
      default:
        return [event];
    }
  }

  /** Whether a seal has been dropped for good. To be asked at the answer's end. */
  get hasLost(): boolean {
    return this.#waiting.length > 0 && !this.#hasCalled;
  }

  #takeSeal(event: SealEvent): readonly AnswerEvent[] {
    const isInPlace = this.#takesLateSeals || this.#isThinking || !this.#hasSpoken;
    this.#isThinking = false;
    if (isInPlace) return [event];
    const isCallsOwn = event.call !== undefined;
    if (!isCallsOwn && !(sealsOther(event) && this.#sealText(event.seal))) this.#waiting.push(event);
    return [];
  }

  #afterWaiting(event: AnswerEvent): readonly AnswerEvent[] {
    if (this.#waiting.length === 0) return [event];
    const events = [...this.#waiting, event];
    this.#waiting = [];
    return events;
  }

  #afterSpeaking(events: readonly AnswerEvent[]): readonly AnswerEvent[] {
    this.#isThinking = false;
    this.#hasSpoken = true;
    return events;
  }
}

/** Whether it belongs to what came before it. Others are thoughts themselves, of which the provider shows nothing. */
function sealsOther({ seal: { kind, isOfCall } }: SealEvent): boolean {
  return isOfCall !== true && (kind === 'thought-signature' || kind === 'members');
}
