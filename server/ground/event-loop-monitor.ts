/**
 * Detects a blocked event loop. A worker thread watches a counter that the loop advances. The thread writes to the log
 * itself, because the loop may never continue, and notifies the main thread if it does.
 */
import { Worker } from 'node:worker_threads';
import type { StandstillView } from '../contract/status-views.ts';
import { every } from './timers.ts';

interface EventLoopMonitorOptions {
  /** The log file to which the thread appends; null if there is none. */
  logPath: string | null;
  /** Called once the loop continues. */
  reportStandstill(standstill: Omit<StandstillView, 'count'>): void;
}

export interface Labelled {
  /** Identifies a request in three lines: its id, its key's id and its route. Read when the request is first marked. */
  readonly workLabel: string;
  /** Sequence number of its label among those written; 0 at first. Only for `EventLoopMonitor`. */
  labelNumber: number;
}

/** Number of labels kept; with more concurrent requests, their labels are written again. */
const keptLabels = 256;
const labelBytes = 512;
/**
 * Cells: the counter, the slot of the marked request's label plus 1 (0 if none is marked), the end flag, the labels'
 * lengths.
 */
const firstLength = 3;
const headBytes = (firstLength + keptLabels) * 4;

/** Passed to the thread as text, so that it also exists in a bundled program. */
const threadSource = `
const { parentPort, workerData } = require('node:worker_threads')
const { appendFileSync } = require('node:fs')
const { memory, headBytes, labelBytes, lookMs, limitMs, logPath } = workerData
const cells = new Int32Array(memory, 0, headBytes / 4)
const labels = Buffer.from(memory, headBytes)
const marked = () => {
  const mark = Atomics.load(cells, 1)
  const start = (mark - 1) * labelBytes
  return mark === 0 ? null : labels.latin1Slice(start, start + cells[${firstLength} + mark - 1])
}
let beat = Atomics.load(cells, 0), lookedAt = performance.now(), standsMs = 0, noticed = null
while (Atomics.wait(cells, 2, 0, lookMs) === 'timed-out') {
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
  noticed = { at: Date.now() - Math.round(standsMs), label: marked() }
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

/**
 * Marks the request being processed. This takes a few nanoseconds, because it is done for each event of each stream.
 */
export class EventLoopMonitor {
  readonly #memory = new SharedArrayBuffer(headBytes + keptLabels * labelBytes);
  readonly #cells = new Int32Array(this.#memory, 0, headBytes / 4);
  readonly #labels = Buffer.from(this.#memory, headBytes);
  readonly #options: EventLoopMonitorOptions;
  #beats: NodeJS.Timeout | undefined;
  /** Sequence number of the last label. Each replaces the one that was written `keptLabels` before it. */
  #lastLabel = 0;

  constructor(options: EventLoopMonitorOptions) {
    this.#options = options;
  }

  /** Called with the first request, because the thread takes 9 MB. Idempotent; does not keep the process alive. */
  start(): void {
    if (this.#beats) return;
    this.#beats = every(() => Atomics.add(this.#cells, 0, 1), lookMs).unref();
    const { logPath, reportStandstill } = this.#options;
    const thread = new Worker(threadSource, {
      eval: true,
      name: 'loop watch',
      execArgv: [],
      env: {},
      workerData: { memory: this.#memory, headBytes, labelBytes, lookMs, limitMs, logPath },
      resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 },
    });
    thread.on('message', ({ at, ms, label }: Noticed) => {
      if (Atomics.load(this.#cells, 2) === 0) reportStandstill({ at, ms, request: readLabel(label) });
    });
    // Without the thread, standstills are not reported.
    thread.on('error', () => {});
    thread.unref();
  }

  stop(): void {
    clearInterval(this.#beats);
    Atomics.store(this.#cells, 2, 1);
    Atomics.notify(this.#cells, 2);
  }

  /** Marks a request before work whose duration depends on untrusted input. */
  begin(work: Labelled): void {
    const { labelNumber } = work;
    if (labelNumber === 0 || this.#lastLabel - labelNumber >= keptLabels) this.#write(work);
    this.#cells[1] = (work.labelNumber % keptLabels) + 1;
  }

  #write(work: Labelled): void {
    work.labelNumber = ++this.#lastLabel;
    const slot = work.labelNumber % keptLabels;
    this.#cells[firstLength + slot] = this.#labels.write(work.workLabel, slot * labelBytes, labelBytes, 'latin1');
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
