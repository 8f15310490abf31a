/**
 * The faults that are switched on for a key, or for all keys of a group. They are kept in memory only and end by
 * themselves, so a restart also ends them.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { faultHeader, type TimedFaultsView } from '../contract/faults.ts';
import { after } from '../ground/timers.ts';
import type { FaultSequence } from './fault-sequence.ts';

export type FaultScope = Pick<TimedFaultsView, 'kind' | 'id'>;

interface RunningFaults {
  view: TimedFaultsView;
  sequence: FaultSequence;
  timer: NodeJS.Timeout;
}

export class FaultSwitch {
  readonly #listeners: (() => void)[] = [];
  readonly #running: RunningFaults[] = [];

  /** Calls the listener when faults have begun or ended. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Whether a request may get a fault. The only check that requests make while all faults are off. */
  concerns(headers: IncomingHttpHeaders): boolean {
    return this.#running.length > 0 || headers[faultHeader] !== undefined;
  }

  /** The faults that are on for the caller; those of its key take precedence over those of its group. Null: none. */
  sequenceFor(groupId: string, keyId: string): FaultSequence | null {
    const nowMs = Date.now();
    const find = (kind: FaultScope['kind'], id: string) =>
      // The timer may be suspended while the machine sleeps.
      this.#running.find(({ view }) => view.kind === kind && view.id === id && nowMs < view.untilMs);
    return (find('key', keyId) ?? find('group', groupId))?.sequence ?? null;
  }

  /** The faults that have not ended yet. */
  get timed(): TimedFaultsView[] {
    return this.#running.map(({ view }) => view);
  }

  /** Replaces the faults of the same key or group. */
  start(view: Omit<TimedFaultsView, 'untilMs'>, sequence: FaultSequence, durationMs: number): void {
    this.#remove(view);
    const timer = after(() => this.stop(view), durationMs).unref();
    this.#running.push({ view: { ...view, untilMs: Date.now() + durationMs }, sequence, timer });
    this.#changed();
  }

  /** Null stops all faults. */
  stop(scope: FaultScope | null): void {
    if (this.#remove(scope)) this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #remove(scope: FaultScope | null): boolean {
    const endedFaults = this.#running.filter(
      ({ view }) => scope === null || (view.kind === scope.kind && view.id === scope.id),
    );
    for (const each of endedFaults) {
      clearTimeout(each.timer);
      this.#running.splice(this.#running.indexOf(each), 1);
    }
    return endedFaults.length > 0;
  }
}
