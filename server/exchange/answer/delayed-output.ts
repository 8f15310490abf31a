/** Queues writes to a response until something is stored that the client must not learn of before. */
export class DelayedOutput {
  readonly #onDone: () => void;
  readonly #writes: (() => void)[] = [];
  #storing = 0;

  /** `done` is called once everything is stored and written. */
  constructor(onDone: () => void) {
    this.#onDone = onDone;
  }

  /** Waits for this as well. */
  until(storing: Promise<void>): void {
    this.#storing += 1;
    const release = () => this.#release();
    storing.then(release, release);
  }

  add(write: () => void): void {
    this.#writes.push(write);
  }

  #release(): void {
    this.#storing -= 1;
    if (this.#storing > 0) return;
    this.#onDone();
    for (const write of this.#writes) write();
  }
}
