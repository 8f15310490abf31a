/**
 * Threads that translate requests and answers of more than a megabyte or of thousands of values, so that no other client waits
 * meanwhile. They are started when there is something for them and end when there has been nothing for a while, which gives
 * their memory back.
 */
import { extname, join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { GatewayError } from '../../contract/errors.ts';
import { after } from '../../ground/timers.ts';
import type { Order, OrderName, OrderResult, Orders, Refusal } from './thread-orders.ts';

/** One that is busy with the worst of requests leaves another. */
const mostThreads = 2;
const idleMs = 10_000;
const retryAfterSeconds = 5;
/** In the bundle beside the program, else beside this file. */
const program = join(import.meta.dirname, `translation-thread${extname(import.meta.filename)}`);

interface Waiting {
  resolve(answered: unknown): void;
  reject(reason: Error): void;
}

/** What one request asks of its thread. */
export interface ThreadSession {
  /** Rejects with a GatewayError if it cannot be done, also because the thread has ended. `bytes` change hands. */
  ask<Name extends OrderName>(
    name: Name,
    asked: Orders[Name]['asked'],
    bytes?: Uint8Array<ArrayBuffer>,
  ): Promise<Orders[Name]['answered']>;
  /** Frees what the thread holds for the request. */
  close(): void;
}

export class TranslationThreads {
  readonly #threads = new Set<TranslationThread>();
  #sessions = 0;

  open(): ThreadSession {
    const number = ++this.#sessions;
    const thread = this.#leastBusy();
    let isOpen = true;
    thread.begin();
    return {
      ask: (name, asked, bytes) => thread.ask(name, number, asked, bytes),
      close() {
        if (!isOpen) return;
        isOpen = false;
        thread.end(number);
      },
    };
  }

  /** How many there are at present. */
  get running(): number {
    return this.#threads.size;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.stop()));
  }

  #leastBusy(): TranslationThread {
    const [least] = [...this.#threads].sort((one, other) => one.sessions - other.sessions);
    if (least && (least.sessions === 0 || this.#threads.size >= mostThreads)) return least;
    const thread = new TranslationThread(() => this.#threads.delete(thread));
    this.#threads.add(thread);
    return thread;
  }
}

class TranslationThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: () => void;
  #orders = 0;
  #sessions = 0;
  #isOver = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(ended: () => void) {
    this.#ended = ended;
    const maxOldGenerationSizeMb = Math.ceil(getHeapStatistics().heap_size_limit / 1024 ** 2);
    // Memory is admitted before (`HeapShare`). Should it still run out, this thread alone ends. Node's own
    // `--max-old-space-size` takes precedence.
    this.#worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb }, stdin: false });
    this.#worker.unref();
    this.#worker.on('message', (result: OrderResult) => this.#answered(result));
    this.#worker.on('error', () => this.#broke());
    this.#worker.on('exit', () => this.#broke());
  }

  get sessions(): number {
    return this.#sessions;
  }

  begin(): void {
    this.#sessions++;
    clearTimeout(this.#idle);
  }

  end(session: number): void {
    this.#sessions--;
    this.#send({ name: 'close', session, number: ++this.#orders, asked: null });
    if (this.#sessions > 0 || this.#isOver) return;
    this.#idle = after(() => this.stop(), idleMs);
    this.#idle.unref();
  }

  ask<Name extends OrderName>(
    name: Name,
    session: number,
    asked: Orders[Name]['asked'],
    bytes?: Uint8Array<ArrayBuffer>,
  ): Promise<Orders[Name]['answered']> {
    const number = ++this.#orders;
    return new Promise<never>((resolve, reject) => {
      if (this.#isOver) reject(ended());
      else {
        this.#waiting.set(number, { resolve, reject } as Waiting);
        this.#send({ name, session, number, asked } as Order, bytes);
      }
    });
  }

  async stop(): Promise<void> {
    clearTimeout(this.#idle);
    this.#broke();
    await this.#worker.terminate();
  }

  #send(order: Order, bytes?: Uint8Array<ArrayBuffer>): void {
    if (!this.#isOver) this.#worker.postMessage(order, bytes && bytes.length > 0 ? [bytes.buffer] : []);
  }

  #answered(result: OrderResult): void {
    const waiting = this.#waiting.get(result.number);
    this.#waiting.delete(result.number);
    if ('refusal' in result) waiting?.reject(errorOf(result.refusal));
    else waiting?.resolve(result.answered);
  }

  #broke(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ended();
    for (const { reject } of this.#waiting.values()) reject(ended());
    this.#waiting.clear();
  }
}

function errorOf({ code, message, param, retryAfterSeconds: seconds }: Refusal): Error {
  if (code === null) return new Error(message);
  return new GatewayError(code, message, { param, ...(seconds !== null && { retryAfterSeconds: seconds }) });
}

function ended(): GatewayError {
  const message = 'The memory for translating large requests and answers has run out. Try again later.';
  return new GatewayError('overloaded', message, { retryAfterSeconds });
}
