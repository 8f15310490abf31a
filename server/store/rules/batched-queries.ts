/** Batches questions that arrive while others are being answered, such as those about all keys at a start. */
interface PendingQuestion<Question, Answer> {
  question: Question;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

const maxBatch = 500;

export class BatchedQueries<Question, Answer> {
  readonly #answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  #questions: PendingQuestion<Question, Answer>[] = [];
  #isRunning = false;

  /** `answerAll`: resolves with one answer per question, in the same order. */
  constructor(answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>) {
    this.#answerAll = answerAll;
  }

  /** Rejects if `answerAll` does. */
  ask(question: Question): Promise<Answer> {
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#questions.push({ question, resolve, reject });
    });
    if (!this.#isRunning) void this.#run();
    return answer;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#questions.length > 0) {
      // Waits a microtask, to include questions of the same moment.
      await Promise.resolve();
      await this.#answerSome(this.#questions.splice(0, maxBatch));
    }
    this.#isRunning = false;
  }

  async #answerSome(batch: readonly PendingQuestion<Question, Answer>[]): Promise<void> {
    try {
      const answers = await this.#answerAll(batch.map(({ question }) => question));
      for (const [index, answer] of answers.entries()) batch[index]?.resolve(answer);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
