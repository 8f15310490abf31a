/**
 * What sessions have spent of their budgets. Counted in memory; a session's amount is read from the ledger on first
 * use, so that it survives a restart.
 */
import { GatewayError } from '../../contract/errors.ts';
import type { RequestRecord } from '../../contract/ledger.ts';
import type { SessionBudget } from '../../contract/limit-settings.ts';
import type { SessionBudgetReached } from '../../contract/session-views.ts';
import { LruMap } from '../../ground/collections.ts';
import type { MaybePromise } from '../../ground/promises.ts';

/** As in `SessionStates`. */
export interface SessionSpendingPorts {
  budgetUsedUsd(id: string): MaybePromise<number | null>;
}

interface Spent {
  usd: number;
  /** When to read it again, because other replicas count as well, on the monotonic clock; null: there are none. */
  staleAtMs: number | null;
  /** The highest amount that was reported, or that had been reached when the session was first read. */
  reportedUsd: number;
}

const staleAfterMs = 5_000;
/** Others are read from the ledger again. */
const maxRemembered = 4_096;

export class SessionSpending {
  readonly #ports: SessionSpendingPorts;
  readonly #spent = new LruMap<Spent>(maxRemembered);
  /** By session whose amount is being read for the first time: its requests that have ended meanwhile. */
  readonly #endedRecords = new Map<string, RequestRecord[]>();
  #onReached: (notice: SessionBudgetReached) => void = () => {};

  constructor(ports: SessionSpendingPorts) {
    this.#ports = ports;
  }

  onReached(listener: (notice: SessionBudgetReached) => void): void {
    this.#onReached = listener;
  }

  /**
   * Admits the next request of a session. While the ledger cannot be read, requests are served.
   *
   * @throws GatewayError `session_budget_spent`
   */
  check(sessionId: string, budget: SessionBudget): void {
    const { notifyAtUsd, stopAtUsd } = budget;
    if (notifyAtUsd === null && stopAtUsd === null) return;
    const spent = this.#spent.get(sessionId) ?? this.#read(sessionId, budget);
    if (!spent) return;
    if (spent.staleAtMs !== null && performance.now() >= spent.staleAtMs) this.#read(sessionId, budget);
    if (stopAtUsd !== null && spent.usd >= stopAtUsd) throw refusal(sessionId, spent.usd, stopAtUsd);
  }

  /** Counts a request that has ended and is in the ledger. `budget`: the present one. */
  finished(record: RequestRecord, budget: SessionBudget): void {
    const { session, costUsd, keyId, client } = record;
    if (session !== null) this.#endedRecords.get(session.id)?.push(record);
    const spent = session === null ? undefined : this.#spent.get(session.id);
    if (session === null || !spent || costUsd === null) return;
    spent.usd += costUsd;
    const reachedShare = highestReached(spent.usd, budget);
    if (!reachedShare || reachedShare.amountUsd <= spent.reportedUsd) return;
    spent.reportedUsd = reachedShare.amountUsd;
    this.#onReached({ ...reachedShare, sessionId: session.id, keyId, client, usedUsd: spent.usd });
  }

  /** Its amount is read from the ledger again when next needed. */
  forget(sessionId: string): void {
    this.#spent.delete(sessionId);
    this.#endedRecords.delete(sessionId);
  }

  /** Null if it cannot be read, or is still being read; the session's requests are served until then. */
  #read(sessionId: string, budget: SessionBudget): Spent | null {
    if (this.#endedRecords.has(sessionId)) return null;
    const usd = this.#ports.budgetUsedUsd(sessionId);
    if (usd instanceof Promise) void this.#readLater(sessionId, usd, budget);
    return usd === null || usd instanceof Promise ? null : this.#begin(sessionId, usd, budget);
  }

  async #readLater(sessionId: string, reading: Promise<number | null>, budget: SessionBudget): Promise<void> {
    const staleAtMs = performance.now() + staleAfterMs;
    const spent = this.#spent.get(sessionId);
    if (!spent) return this.#beginLater(sessionId, reading, { budget, staleAtMs });
    spent.staleAtMs = staleAtMs;
    // Requests of this replica may have ended meanwhile.
    spent.usd = Math.max(spent.usd, (await reading) ?? 0);
  }

  async #beginLater(
    sessionId: string,
    reading: Promise<number | null>,
    { budget, staleAtMs }: { budget: SessionBudget; staleAtMs: number },
  ): Promise<void> {
    const endedRecords: RequestRecord[] = [];
    this.#endedRecords.set(sessionId, endedRecords);
    const usd = await reading;
    // The session was forgotten in the meantime and starts again.
    if (this.#endedRecords.get(sessionId) !== endedRecords) return;
    this.#endedRecords.delete(sessionId);
    if (usd === null) return;
    this.#begin(sessionId, usd, budget).staleAtMs = staleAtMs;
    for (const record of endedRecords) this.finished(record, budget);
  }

  #begin(sessionId: string, usd: number, budget: SessionBudget): Spent {
    const spent = { usd, staleAtMs: null, reportedUsd: highestReached(usd, budget)?.amountUsd ?? 0 };
    this.#spent.set(sessionId, spent);
    return spent;
  }
}

function highestReached(
  usd: number,
  { notifyAtUsd, stopAtUsd }: SessionBudget,
): Pick<SessionBudgetReached, 'amount' | 'amountUsd'> | null {
  if (stopAtUsd !== null && usd >= stopAtUsd) return { amount: 'stop', amountUsd: stopAtUsd };
  if (notifyAtUsd !== null && usd >= notifyAtUsd) return { amount: 'notify', amountUsd: notifyAtUsd };
  return null;
}

function refusal(sessionId: string, usedUsd: number, stopAtUsd: number): GatewayError {
  return new GatewayError(
    'session_budget_spent',
    `This session (${sessionId}) has cost ${dollars(usedUsd)}, which uses up its budget of ${dollars(stopAtUsd)}. Start a new one, raise the budget (settings.sessionBudget.stopAtUsd), or resume the session for another ${dollars(stopAtUsd)}: in Sluice under Sessions, or with "sluice session resume ${sessionId}".`,
  );
}

function dollars(usd: number): string {
  return `$${Number(usd.toPrecision(4))}`;
}
