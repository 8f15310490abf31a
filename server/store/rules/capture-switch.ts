/**
 * Decides which requests are captured: those of groups and keys that have `capture` on, those whose client asks for it,
 * and, for some minutes or requests, those of a group, of a key, or all. Timed captures are kept in memory only, so
 * that a restart ends them. If a team preset has locked a group's `capture`, only the preset decides.
 */
import type { CaptureCause } from '../../contract/capture.ts';
import type { TimedCaptureView } from '../../contract/status-views.ts';
import { after } from '../../ground/timers.ts';

/** The client's header that asks for the capture of its request. */
export const captureHeader = 'x-sluice-capture';

interface Caller {
  key: { id: string; capture: boolean };
  group: { id: string; capture: boolean; captureOnRequest: boolean };
}

/** Null for all requests. */
export type CaptureScope = { kind: 'group' | 'key'; id: string } | null;

interface CaptureSwitchPorts {
  /** Whether a team preset has locked the group's `capture`. */
  isLocked(groupId: string): boolean;
  /** Whether the newest requests are kept in memory where none of these causes holds. */
  keepsRecent(): boolean;
}

export class CaptureSwitch {
  readonly #ports: CaptureSwitchPorts;
  readonly #listeners: (() => void)[] = [];
  readonly #timedCaptures: (TimedCaptureView & { timer: NodeJS.Timeout })[] = [];

  constructor(ports: CaptureSwitchPorts) {
    this.#ports = ports;
  }

  /** Calls the listener when a timed capture has begun or ended. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** `headerValue` is the value of the client's header. Null: the request is not captured. */
  causeOf({ group, key }: Caller, headerValue: string | string[] | undefined): CaptureCause | null {
    if (group.capture) return 'group';
    const cause = this.#otherCause({ group, key }, headerValue);
    if (cause === null || this.#ports.isLocked(group.id)) return null;
    if (cause === 'timed') this.#count(group.id, key.id);
    return cause;
  }

  /** Whether a request without a cause is kept in memory, for a while. */
  isRecent({ group }: Pick<Caller, 'group'>): boolean {
    return this.#ports.keepsRecent() && !this.#ports.isLocked(group.id);
  }

  #otherCause({ group, key }: Caller, headerValue: string | string[] | undefined): CaptureCause | null {
    if (key.capture) return 'key';
    if (this.#timedCaptures.length > 0 && this.#isTimed(group.id, key.id)) return 'timed';
    return headerValue === 'on' && group.captureOnRequest ? 'header' : null;
  }

  /** Those that have not ended yet. */
  get timed(): TimedCaptureView[] {
    return this.#timedCaptures.map(({ timer: _, ...view }) => view);
  }

  /** Replaces a timed capture of the same scope. `requests`: it ends early after this many; null: only by time. */
  start(scope: CaptureScope, durationMs: number, requests: number | null = null): void {
    this.#remove(scope);
    const untilMs = Date.now() + durationMs;
    const timer = after(() => this.stop(scope), durationMs).unref();
    this.#timedCaptures.push({
      kind: scope?.kind ?? 'all',
      id: scope?.id ?? null,
      untilMs,
      requestsLeft: requests,
      timer,
    });
    this.#changed();
  }

  stop(scope: CaptureScope): void {
    if (this.#remove(scope)) this.#changed();
  }

  /** Both clocks count: the timer's, which may stand still while the machine sleeps, and the wall clock, which may be set back. */
  #isTimed(groupId: string, keyId: string): boolean {
    return this.#timedCaptures.some((timedCapture) => isMeant(timedCapture, groupId, keyId));
  }

  /** Counts a request towards the timed captures. */
  #count(groupId: string, keyId: string): void {
    for (const timedCapture of this.#timedCaptures.filter(
      (each) => each.requestsLeft !== null && isMeant(each, groupId, keyId),
    )) {
      timedCapture.requestsLeft = (timedCapture.requestsLeft ?? 0) - 1;
      if (timedCapture.requestsLeft === 0)
        this.#remove(
          timedCapture.id === null || timedCapture.kind === 'all'
            ? null
            : { kind: timedCapture.kind, id: timedCapture.id },
        );
      this.#changed();
    }
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #remove(scope: CaptureScope): boolean {
    const index = this.#timedCaptures.findIndex(
      ({ kind, id }) => kind === (scope?.kind ?? 'all') && id === (scope?.id ?? null),
    );
    if (index === -1) return false;
    for (const { timer } of this.#timedCaptures.splice(index, 1)) clearTimeout(timer);
    return true;
  }
}

function isMeant({ kind, id, untilMs }: TimedCaptureView, groupId: string, keyId: string): boolean {
  return (kind === 'all' || (kind === 'group' ? id === groupId : id === keyId)) && Date.now() < untilMs;
}
