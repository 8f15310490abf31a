/**
 * Tells when the loop of the program stands still: one piece of work that takes seconds keeps all clients waiting, and
 * while it lasts nothing on this thread can say so. A thread of its own looks at a counter that the loop advances. It writes
 * to the log itself, since a loop may never go on, and tells this thread when it does.
 */
import { Worker } from 'node:worker_threads';
import type { StandstillView } from './contract/status-views.ts';

interface LoopWatchOptions {
  /** Where the thread adds a line; null: nowhere. */
  logPath: string | null;
  /** Once it goes on. */
  stoodStill(standstill: Omit<StandstillView, 'count'>): void;
}

/** Whoever work is done for, in three lines: the request's id, its key's id, its route. */
export interface Labelled {
  readonly workLabel: string;
}

/** Given to the thread as text, so that it is there in a bundled program too. */
const threadSource = `
const { parentPort, workerData } = require('node:worker_threads')
const { appendFileSync } = require('node:fs')
const { memory, headBytes, lookMs, limitMs, logPath } = workerData
const cells = new Int32Array(memory, 0, 4)
const label = Buffer.from(memory, headBytes)
let beat = Atomics.load(cells, 0), lookedAt = performance.now(), standsMs = 0, noticed = null
while (Atomics.wait(cells, 3, 0, lookMs) === 'timed-out') {
  const now = performance.now()
  // A gap between two looks is a sleep of the machine, and no fault of the loop.
  const passedMs = Math.min(now - lookedAt, 2 * lookMs)
  lookedAt = now
  const latest = Atomics.load(cells, 0)
  if (latest !== beat) {
    if (noticed) parentPort.postMessage({ ...noticed, ms: Math.round(standsMs) })
    beat = latest; standsMs = 0; noticed = null
    continue
  }
  standsMs += passedMs
  if (noticed || standsMs < limitMs) continue
  noticed = { at: Date.now() - Math.round(standsMs), label: Atomics.load(cells, 1) ? label.latin1Slice(0, cells[2]) : null }
  if (logPath === null) continue
  const [request, key, route] = noticed.label?.split('\\n') ?? []
  const line = { level: 50, time: new Date().toISOString(), request, key, route, msg: 'the program stands still' }
  try { appendFileSync(logPath, JSON.stringify(line) + '\\n', { mode: 0o600 }) } catch {}
}`;

interface Noticed {
  at: number;
  ms: number;
  label: string | null;
}

const limitMs = 1_000;
const lookMs = 500;
/** Cells of the counter, of whether a request is looked at, of the label's length, and of the end. */
const headBytes = 16;
const labelBytes = 512;

/** Marks which request is worked on; a mark costs less than a microsecond. */
export class LoopWatch {
  readonly #memory = new SharedArrayBuffer(headBytes + labelBytes);
  readonly #cells = new Int32Array(this.#memory, 0, headBytes / 4);
  readonly #label = Buffer.from(this.#memory, headBytes);
  readonly #options: LoopWatchOptions;
  #beats: NodeJS.Timeout | undefined;
  #latest: Labelled | undefined;

  constructor(options: LoopWatchOptions) {
    this.#options = options;
  }

  /**
   * To be called before work begins: where nothing was ever asked, the thread would be 9 MB for nothing. Does nothing if it
   * runs already, and keeps no program alive.
   */
  start(): void {
    if (this.#beats) return;
    this.#beats = setInterval(() => Atomics.add(this.#cells, 0, 1), lookMs).unref();
    const { logPath, stoodStill } = this.#options;
    const thread = new Worker(threadSource, {
      eval: true,
      name: 'loop watch',
      execArgv: [],
      env: {},
      workerData: { memory: this.#memory, headBytes, lookMs, limitMs, logPath },
      resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 },
    });
    thread.on('message', ({ at, ms, label }: Noticed) => {
      if (Atomics.load(this.#cells, 3) === 0) stoodStill({ at, ms, request: readLabel(label) });
    });
    // Without it nothing is told; all else goes on.
    thread.on('error', () => {});
    thread.unref();
  }

  stop(): void {
    clearInterval(this.#beats);
    Atomics.store(this.#cells, 3, 1);
    Atomics.notify(this.#cells, 3);
  }

  /** Work for it begins that may take as long as what strangers sent is. */
  begin(work: Labelled): void {
    if (this.#latest !== work) {
      this.#latest = work;
      this.#cells[2] = this.#label.write(work.workLabel, 'latin1');
    }
    this.#cells[1] = 1;
  }

  end(): void {
    this.#cells[1] = 0;
  }
}

function readLabel(label: string | null): StandstillView['request'] {
  if (label === null) return null;
  const [id = '', keyId = '', route = ''] = label.split('\n');
  return { id, keyId, route };
}
