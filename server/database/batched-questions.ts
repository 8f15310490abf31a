/** Questions that come while others are answered, such as those about all keys at a start, are answered together. */
interface Asked<Question, Answer> {
  question: Question;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

const mostTogether = 500;

export class AskedTogether<Question, Answer> {
  readonly #answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  #waiting: Asked<Question, Answer>[] = [];
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
      await this.#answerSome(this.#waiting.splice(0, mostTogether));
    }
    this.#isRunning = false;
  }

  async #answerSome(asked: readonly Asked<Question, Answer>[]): Promise<void> {
    try {
      const answers = await this.#answerAll(asked.map(({ question }) => question));
      for (const [place, answer] of answers.entries()) asked[place]?.resolve(answer);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}
