/**
 * Tracks whether limits are counted together. After a failed command they are not, so that no further request waits for
 * Valkey, which is then retried in the background until it can be written to again. A heartbeat every few seconds shows
 * that this replica is alive.
 */
import type { SharedCountsView } from '../../contract/replica-limits.ts';
import { after } from '../../ground/timers.ts';
import type { ScriptName } from './scripts.ts';
import { type LinkError, linkErrorOf, type ValkeyLink } from './valkey-link.ts';

/** In milliseconds. */
export interface Timing {
  beatMs: number;
  tryAgainMs: number;
  /** A replica without a heartbeat for this long counts as gone, and its leases end. */
  aliveMs: number;
}

export const usualTiming: Timing = { beatMs: 3_000, tryAgainMs: 500, aliveMs: 10_000 };

const replicasKey = 'sluice:{replicas}:alive';

interface ConnectionPorts {
  link: ValkeyLink;
  /** This replica's id. */
  replica: string;
  /** In the form shown to people. */
  address: string;
  /** The number of replicas before this start; at least 1. */
  lastReplicas: number;
  timing: Timing;
  log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  /** Called when the view has changed. */
  changed(view: SharedCountsView): void;
}

interface ConnectionHooks {
  /** Called with each heartbeat. */
  renew(): Promise<unknown>;
  /** Called before limits are counted together (again). */
  restore(): Promise<unknown>;
}

export class CountsConnection {
  readonly #ports: ConnectionPorts;
  #hooks: ConnectionHooks = { renew: async () => {}, restore: async () => {} };
  #view: SharedCountsView;
  #next: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isBeating = false;
  /** Valkey's clock minus this machine's clock, in milliseconds. */
  #aheadMs = 0;

  constructor(ports: ConnectionPorts) {
    const { address, lastReplicas } = ports;
    this.#ports = ports;
    this.#view = { address, problem: 'not-ready', sinceMs: Date.now(), replicas: lastReplicas };
  }

  /** Whether limits are counted together. */
  get isUp(): boolean {
    return this.#view.problem === null;
  }

  get view(): SharedCountsView {
    return this.#view;
  }

  /** How long a lease lasts if it is not renewed. */
  get leaseMs(): number {
    return this.#ports.timing.aliveMs;
  }

  /** Unix milliseconds by Valkey's clock, as far as it is known. */
  serverMs(): number {
    return Date.now() + this.#aheadMs;
  }

  /** Connects the limiter; called once. Resolves when limits are counted together, or it is known that they cannot be. */
  async start(hooks: ConnectionHooks): Promise<void> {
    this.#hooks = hooks;
    await this.#beat();
  }

  /** Rejects with a LinkError; after that, `isUp` is false. */
  async run(script: ScriptName, keys: readonly string[], args: readonly string[]): Promise<string> {
    try {
      return await this.#ports.link.run(script, keys, args);
    } catch (error) {
      this.#lost(linkErrorOf(error));
      throw error;
    }
  }

  /** Removes keys. Rejects with a LinkError. */
  remove(keys: readonly string[]): Promise<void> {
    return this.#ports.link.remove(keys);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#next);
    if (this.isUp) await this.#ports.link.run('beat', [replicasKey], [this.#ports.replica, '0']).catch(() => {});
    this.#ports.link.close();
  }

  async #beat(): Promise<void> {
    if (this.#isBeating) return;
    this.#isBeating = true;
    const { link, replica, timing } = this.#ports;
    try {
      if (!this.isUp) await link.load();
      const reply = await link.run('beat', [replicasKey], [replica, String(timing.aliveMs)]);
      const [replicas = 1, serverMs = Date.now()] = reply.split(' ').map(Number);
      this.#aheadMs = serverMs - Date.now();
      await (this.isUp ? this.#hooks.renew() : this.#hooks.restore());
      this.#connected(replicas);
    } catch (error) {
      this.#lost(linkErrorOf(error));
    }
    this.#isBeating = false;
    this.#beatAfter(this.isUp ? timing.beatMs : timing.tryAgainMs);
  }

  #beatAfter(ms: number): void {
    clearTimeout(this.#next);
    if (!this.#isClosed) this.#next = after(() => this.#beat(), ms).unref();
  }

  #connected(replicas: number): void {
    const { address, log } = this.#ports;
    const wasUp = this.isUp;
    if (wasUp && this.#view.replicas === replicas) return;
    this.#setView({ address, problem: null, sinceMs: wasUp ? this.#view.sinceMs : Date.now(), replicas });
    if (!wasUp) log.info({ valkey: address, replicas }, 'limits are counted together with all replicas');
  }

  #lost({ problem, message }: LinkError): void {
    if (this.#isClosed || this.#view.problem === problem) return;
    const { address, log } = this.#ports;
    const { replicas } = this.#view;
    const wasUp = this.isUp;
    this.#setView({ address, problem, sinceMs: wasUp ? Date.now() : this.#view.sinceMs, replicas });
    log.warn(
      { valkey: address, problem, reason: message, replicas },
      'Valkey cannot be used: until it can, this replica allows its share of each limit',
    );
    if (wasUp && !this.#isBeating) this.#beatAfter(this.#ports.timing.tryAgainMs);
  }

  #setView(view: SharedCountsView): void {
    this.#view = view;
    this.#ports.changed(view);
  }
}
