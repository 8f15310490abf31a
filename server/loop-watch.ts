/**
 * Detects a blocked event loop. A worker thread watches a counter that the loop advances; it writes to the log itself, since
 * the loop may never continue, and notifies the main thread when it does.
 */
import { Worker } from 'node:worker_threads';
import type { StandstillView } from './contract/status-views.ts';

interface LoopWatchOptions {
  /** The log file to which the thread appends; null: none. */
  logPath: string | null;
  /** Called once the loop continues. */
  stoodStill(standstill: Omit<StandstillView, 'count'>): void;
}

export interface Labelled {
  /** Identifies a request in three lines: its id, its key's id and its route. Latin-1. */
  readonly workLabel: Uint8Array;
}

/** Passed to the thread as text, so that it also exists in a bundled program. */
const threadSource = `
const { parentPort, workerData } = require('node:worker_threads')
const { appendFileSync } = require('node:fs')
const { memory, headBytes, lookMs, limitMs, logPath } = workerData
const cells = new Int32Array(memory, 0, 4)
const label = Buffer.from(memory, headBytes)
let beat = Atomics.load(cells, 0), lookedAt = performance.now(), standsMs = 0, noticed = null
while (Atomics.wait(cells, 3, 0, lookMs) === 'timed-out') {
  const now = performance.now()
  // A gap between two checks of this thread means that the machine slept.
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
/** Four cells: the counter, whether a request is marked, the label's length, and the end flag. */
const headBytes = 16;
const labelBytes = 512;

/** Marks the request being processed, in less than a microsecond. */
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

  /** Called with the first request, since the thread takes 9 MB. Idempotent; does not keep the process alive. */
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
    // Without the thread, standstills are not reported.
    thread.on('error', () => {});
    thread.unref();
  }

  stop(): void {
    clearInterval(this.#beats);
    Atomics.store(this.#cells, 3, 1);
    Atomics.notify(this.#cells, 3);
  }

  /** Marks a request before work whose duration depends on untrusted input. */
  begin(work: Labelled): void {
    if (this.#latest !== work) {
      this.#latest = work;
      const { workLabel } = work;
      const length = Math.min(workLabel.length, labelBytes);
      this.#label.set(length < workLabel.length ? workLabel.subarray(0, length) : workLabel);
      this.#cells[2] = length;
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
