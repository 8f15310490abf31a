/** Questions that come while others are answered, such as those about all keys at a start, are answered together. */
interface PendingQuestion<Question, Answer> {
  question: Question;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

const maxBatch = 500;

export class BatchedQuestions<Question, Answer> {
  readonly #answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  #waiting: PendingQuestion<Question, Answer>[] = [];
  #isRunning = false;

  /** `answerAll`: resolves with one answer for each question, in their order. */
  constructor(answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>) {
    this.#answerAll = answerAll;
  }

  /** Rejects as `answerAll` does. */
  ask(question: Question): Promise<Answer> {
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
    });
    if (!this.#isRunning) void this.#run();
    return answer;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      // Those of the same moment as well.
      await Promise.resolve();
      await this.#answerSome(this.#waiting.splice(0, maxBatch));
    }
    this.#isRunning = false;
  }

  async #answerSome(asked: readonly PendingQuestion<Question, Answer>[]): Promise<void> {
    try {
      const answers = await this.#answerAll(asked.map(({ question }) => question));
      for (const [place, answer] of answers.entries()) asked[place]?.resolve(answer);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}
