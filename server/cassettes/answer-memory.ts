import type { StoredAnswer } from '../exchange/answer/local-reply.ts';

/** A cassette that people can read is smaller. Further answers of a larger one are read from its files when needed. */
const maxBytes = 32 * 1024 * 1024;
/** Approximate size of an answer besides its bytes. */
const answerBytes = 512;

/** Keeps answers in memory as long as there is room. */
export class AnswerMemory {
  readonly #answers = new Map<string, StoredAnswer>();
  #bytes = 0;

  add(name: string, answer: StoredAnswer): void {
    const bytes = answer.pieces.reduce((sum, piece) => sum + piece.bytes.length + answerBytes, answerBytes);
    if (this.#bytes + bytes > maxBytes) return;
    this.#bytes += bytes;
    this.#answers.set(name, answer);
  }

  get(name: string): StoredAnswer | undefined {
    return this.#answers.get(name);
  }
}
