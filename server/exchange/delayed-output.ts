/** What is written of a response while something has to be stored first, which the client must not know before: it waits, in order. */
export class DelayedOutput {
  readonly #done: () => void;
  readonly #waiting: (() => void)[] = [];
  #storing = 0;

  /** `done` is called once everything is stored and written. */
  constructor(done: () => void) {
    this.#done = done;
  }

  /** Holds on until this has settled as well. */
  until(stored: Promise<void>): void {
    this.#storing += 1;
    const over = () => this.#release();
    stored.then(over, over);
  }

  add(write: () => void): void {
    this.#waiting.push(write);
  }

  #release(): void {
    this.#storing -= 1;
    if (this.#storing > 0) return;
    this.#done();
    for (const write of this.#waiting) write();
  }
}
