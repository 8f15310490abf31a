import type { StreamText } from '../../apis/core/stream-text.ts';
import type { ErrorBody } from '../../contract/errors.ts';
import type { CallPlan } from '../plan/plan.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { AnswerTranslation } from '../translation/answer-translation.ts';
import { mayTranslatedBeRescued } from './choose-reader.ts';

/**
 * Stands for the client's text while a stream is translated: the translation knows what the client has, so this only
 * reports whether another attempt can continue it.
 */
export class TranslatedText implements StreamText {
  readonly lastEvent = null;
  readonly #translation: AnswerTranslation;

  constructor(translation: AnswerTranslation) {
    this.#translation = translation;
  }

  take(): string {
    return '';
  }

  append(): void {}

  counted(): void {}

  read(): { text: string; isFinished: false } | null {
    return this.#translation.isContinuable ? continuable : null;
  }

  errorEvent(error: ErrorBody): string {
    const event = this.#translation.errorEvent(error);
    // A stream that is translated in another thread is not continued, so no one asks.
    return typeof event === 'string' ? event : '';
  }
}

/** Null if no other attempt may continue the stream. */
export function translatedText(
  translation: AnswerTranslation,
  plan: CallPlan,
  call: OutgoingCall,
): TranslatedText | null {
  return mayTranslatedBeRescued(plan, call) ? new TranslatedText(translation) : null;
}

const continuable = { text: '', isFinished: false } as const;
