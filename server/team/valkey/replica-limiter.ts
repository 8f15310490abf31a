/**
 * Counts limits together with other replicas: one script in Valkey admits a request by the limits of its key and group,
 * in one round trip; what it used is written afterwards, and no request waits for that. Requests that no limit can
 * refuse are admitted without asking. Everything is counted locally as well, so that this replica can continue alone at
 * any time.
 */

import { GatewayError } from '../../contract/errors.ts';
import type { RequestRecord } from '../../contract/ledger.ts';
import type { Budget, Limits } from '../../contract/limit-settings.ts';
import type { Limited, LimitMeter, LimitScope } from '../../contract/limits.ts';
import type { SharedCountsSettings } from '../../contract/replica-limits.ts';
import {
  type Account,
  type Clocks,
  type Estimate,
  largest,
  noCharge,
  noSpending,
  type Settled,
} from '../../limits/account.ts';
import type { JobOwner, Limiter, RateHeaders } from '../../limits/limiter.ts';
import { type LocalLimiter, settledBy } from '../../limits/local-limiter.ts';
import { type Counted, findExceeded, metersOf, rateMeters } from '../../limits/meters.ts';
import { nameOf, rateHeaders, refusal, refuseIfSpent, unknownSpending } from '../../limits/refusal.ts';
import type { Amounts, Spent } from '../../store/sqlite/usage-history.ts';
import type { BudgetAudits } from './budget-audits.ts';
import { type CountedSubject, SubjectRegistry } from './counted-subject.ts';
import type { CountsConnection } from './counts-connection.ts';
import type { AdmissionReply, EndedRequest, ReplicaCounts, Settlement } from './replica-counts.ts';
import type { ReplyCounts } from './reply-counts.ts';

interface ReplicaLimiterPorts {
  connection: CountsConnection;
  counts: ReplicaCounts;
  audits: BudgetAudits;
  /** This replica's own counts. */
  local: LocalLimiter;
  clocks: Clocks;
  settings(): SharedCountsSettings;
}

interface Admitted {
  subjects: readonly CountedSubject[];
  estimate: Estimate;
  /** By Valkey's clock; 0 if Valkey was not asked. */
  atMs: number;
}

/** Meters are kept up to date for this long after they were last requested. */
const shownMs = 15_000;
const maxShown = 200;
const withdrawn: Settled = { startedAt: 0, used: noSpending, isVoid: true };

export class ReplicaLimiter implements Limiter {
  readonly #ports: ReplicaLimiterPorts;
  readonly #subjects = new SubjectRegistry();
  readonly #admitted = new Map<string, Admitted>();
  /** Subjects whose meters were queried recently. */
  readonly #shownSubjects = new Set<CountedSubject>();
  readonly #pendingSettlements = new PendingSettlements();

  constructor(ports: ReplicaLimiterPorts) {
    this.#ports = ports;
  }

  /** Resolves when limits are counted together, or when it is known that they cannot be now. */
  begin(): Promise<void> {
    return this.#ports.connection.start({ renew: () => this.#renew(), restore: () => this.#restore() });
  }

  admit(id: string, limitedBy: readonly Limited[], estimate: Estimate): RateHeaders | Promise<RateHeaders> {
    const subjects = limitedBy.map((limited) => this.#subjects.of(limited));
    if (!this.#ports.connection.isUp) return this.#admitAlone(id, subjects, estimate);
    if (subjects.some((subject) => (estimate === noCharge ? subject.canRefuseFree : subject.canRefuse)))
      return this.#admitTogether(id, subjects, estimate);
    this.#noteAdmitted(id, { subjects, estimate, atMs: 0 });
    return {};
  }

  admitAtOnce(id: string, limitedBy: readonly Limited[], estimate: Estimate): RateHeaders {
    const { connection, counts, clocks } = this.#ports;
    const subjects = limitedBy.map((limited) => this.#subjects.of(limited));
    if (!connection.isUp) return this.#admitAlone(id, subjects, estimate);
    const limitedCounts = subjects.map((subject) => ({
      limited: subject.limited,
      counted: subject.lastReply ?? this.#ports.local.account(subject.limited),
    }));
    refuseIfExceeded(limitedCounts, estimate, clocks);
    this.#noteAdmitted(id, { subjects, estimate, atMs: connection.serverMs() });
    // If it fails, the lease is sent with a later heartbeat.
    counts.ask(id, subjects, estimate, 'none').catch(() => {});
    return headersOf(limitedCounts, clocks);
  }

  /** By what is known here; what other replicas have counted is asked for, and known at the next check. */
  checkBudgets(limitedBy: readonly Limited[]): void {
    const { local, connection, clocks } = this.#ports;
    local.checkBudgets(limitedBy);
    if (!connection.isUp) return;
    const subjects = limitedBy
      .map((limited) => this.#subjects.of(limited))
      .filter(({ hasHardBudget }) => hasHardBudget);
    if (subjects.length > 0) this.#refreshCounts(subjects).catch(() => {});
    const nowMs = clocks.wallMs();
    const isCurrent = (counted: ReplyCounts, { limits }: Limited) =>
      limits.budgets.every(({ per }) => counted.spent(per).period.endMs > nowMs);
    for (const { limited, lastReply: counted } of subjects)
      if (counted && isCurrent(counted, limited)) refuseIfSpent([{ limited, counted }], clocks);
  }

  finished(record: RequestRecord): void {
    this.#ports.local.finished(record);
    const settled = settledBy(record);
    const admitted = this.#admitted.get(record.id);
    if (admitted) {
      this.#admitted.delete(record.id);
      for (const { leases } of admitted.subjects) leases.delete(record.id);
      this.#settle(endedOf(record.id, admitted, settled));
    }
    // The request may have begun before its key or group had limits.
    for (const payer of this.#ports.local.payersOf({ keyId: record.keyId, groupId: record.groupId ?? '' })) {
      const subject = this.#subjects.get(payer);
      if (!subject?.hasBudgets || admitted?.subjects.some((each) => each.limited.scope === subject.limited.scope))
        continue;
      this.#settle(endedOf(record.id, { subjects: [subject], estimate: noCharge, atMs: 0 }, settled));
    }
  }

  hold(job: string, owner: JobOwner, most: Amounts): void {
    const { local, counts, connection } = this.#ports;
    const payers = local.hold(job, owner, most);
    const lease = [leaseName(job), counts.leaseOf(most, false)] as const;
    for (const payer of payers) {
      const subject = this.#subjects.hold(payer, ...lease);
      // If it fails, it is sent with a later heartbeat.
      if (subject?.hasBudgets && connection.isUp) counts.renew(subject, [lease]).catch(() => {});
    }
  }

  release(job: string, owner: JobOwner): void {
    for (const payer of this.#ports.local.release(job, owner)) {
      const subject = this.#subjects.release(payer, leaseName(job));
      if (subject?.hasBudgets) this.#withdraw(leaseName(job), [subject]);
    }
  }

  meters(limited: Limited): LimitMeter[] {
    const { connection, clocks, local } = this.#ports;
    const subject = this.#subjects.of(limited);
    subject.shownAtMs = clocks.steadyMs();
    this.#shownSubjects.add(subject);
    const reply = connection.isUp ? subject.lastReply : null;
    return metersOf(reply ?? local.account(limited), limited, clocks);
  }

  async refresh(limitedBy: readonly Limited[]): Promise<void> {
    if (!this.#ports.connection.isUp) return;
    await this.#refreshCounts(limitedBy.map((limited) => this.#subjects.of(limited))).catch(() => {});
  }

  preloadSpent(limitedBy: Iterable<Limited>): Promise<void> {
    return this.#ports.local.preloadSpent(limitedBy);
  }

  forget(scope: LimitScope, id: string): void {
    const { local, connection, audits } = this.#ports;
    local.forget(scope, id);
    const subject = this.#subjects.remove({ scope, id });
    if (subject) {
      audits.forget(subject);
      this.#shownSubjects.delete(subject);
    }
    if (subject && connection.isUp) connection.remove(subject.at(connection.serverMs()).keys).catch(() => {});
  }

  async #admitTogether(id: string, subjects: readonly CountedSubject[], estimate: Estimate): Promise<RateHeaders> {
    const answer = await this.#ask(id, subjects, estimate).catch(() => null);
    if (answer === null) return this.#admitUnanswered(id, subjects, estimate);
    const { clocks } = this.#ports;
    const limitedCounts = subjects.map(({ limited }, index) => limitedCountsOf(limited, answer.replies[index]));
    if (answer.verdict === 'admitted') {
      this.#refuseByOwnRates(id, subjects, estimate);
      this.#noteAdmitted(id, { subjects, estimate, atMs: answer.serverMs });
      return headersOf(limitedCounts, clocks);
    }
    const unknown = subjects.find(({ hasHardBudget }) => hasHardBudget);
    if (answer.verdict === 'unknown-spending' && unknown) throw unknownSpending(unknown.limited);
    const [first] = answer.replies;
    // Uses the time of the reply, because a moment later the limit may no longer be reached.
    refuseIfExceeded(limitedCounts, estimate, { ...clocks, steadyMs: () => first?.at.steadyMs ?? clocks.steadyMs() });
    throw new Error('unreachable: it was refused, but no limit is reached');
  }

  /** What this replica has admitted itself in the last minute counts, too, where Valkey has lost its data and begins at 0. */
  #refuseByOwnRates(id: string, subjects: readonly CountedSubject[], estimate: Estimate): void {
    const { local, clocks } = this.#ports;
    const own = subjects.map(({ limited }) => {
      const { concurrent: _, ...rates } = limited.limits;
      return { limited: { ...limited, limits: { ...rates, budgets: [] } }, counted: local.account(limited) };
    });
    try {
      refuseIfExceeded(own, estimate, clocks);
    } catch (refused) {
      this.#withdraw(id, subjects);
      throw refused;
    }
  }

  /** If Valkey does not know what was spent in this period, sends it the ledger's total and asks again. */
  async #ask(id: string, subjects: readonly CountedSubject[], estimate: Estimate): Promise<AdmissionReply> {
    const { counts, audits } = this.#ports;
    const checks = estimate === noCharge ? 'free' : 'all';
    for (const subject of subjects) if (subject.hasUnsentLeases) await this.#sendLeases(subject);
    const answer = await counts.ask(id, subjects, estimate, checks);
    if (answer.verdict !== 'unknown-spending') return answer;
    await Promise.all(subjects.map((subject) => audits.now(subject)));
    return counts.ask(id, subjects, estimate, checks);
  }

  /** Valkey may have admitted the request although its reply did not arrive. */
  #admitUnanswered(id: string, subjects: readonly CountedSubject[], estimate: Estimate): RateHeaders {
    try {
      return this.#admitAlone(id, subjects, estimate);
    } catch (refused) {
      this.#withdraw(id, subjects);
      throw refused;
    }
  }

  #admitAlone(id: string, subjects: readonly CountedSubject[], estimate: Estimate): RateHeaders {
    const { connection, clocks, settings, local } = this.#ports;
    const { replicas } = connection.view;
    const isClosed = estimate !== noCharge && settings().hardBudgets === 'closed';
    const limitedCounts = subjects.map((subject) => {
      const { limited } = subject;
      if (isClosed && subject.hasHardBudget) throw countsUnavailable(limited);
      const limits = shareOf(limited.limits, replicas);
      return {
        limited: { ...limited, limits },
        counted: new DegradedCounts(local.account(limited), subject, replicas),
      };
    });
    refuseIfExceeded(limitedCounts, estimate, clocks);
    this.#noteAdmitted(id, { subjects, estimate, atMs: 0 });
    return headersOf(limitedCounts, clocks);
  }

  #noteAdmitted(id: string, admitted: Admitted): void {
    const { subjects, estimate } = admitted;
    const { local, counts } = this.#ports;
    const limitedBy = subjects.map(({ limited }) => limited);
    local.take(id, limitedBy, estimate);
    this.#admitted.set(id, admitted);
    const lease = counts.leaseOf(estimate.most, !estimate.isPart);
    for (const subject of subjects) {
      subject.isUsed = true;
      if (subject.hasLeases) subject.leases.set(id, lease);
    }
  }

  #settle(ended: EndedRequest): void {
    const { connection, counts } = this.#ports;
    const settlement = counts.settlementOf(ended);
    if (!connection.isUp) this.#pendingSettlements.add(settlement);
    else counts.settle(settlement).catch(() => this.#pendingSettlements.add(settlement));
  }

  /** Ends a lease without any usage. */
  #withdraw(id: string, subjects: readonly CountedSubject[]): void {
    this.#settle(endedOf(id, { subjects, estimate: noCharge, atMs: 0 }, withdrawn));
  }

  async #sendLeases(subject: CountedSubject): Promise<void> {
    await this.#ports.counts.renew(subject);
    subject.hasUnsentLeases = false;
  }

  async #refreshCounts(subjects: readonly CountedSubject[]): Promise<void> {
    await Promise.all(subjects.map((subject) => this.#ports.counts.ask('', [subject], noCharge, 'none')));
  }

  async #renew(): Promise<void> {
    const { clocks, audits } = this.#ports;
    await this.#catchUp();
    if (audits.hasCaughtUp()) audits.doubt(this.#usedBudgets());
    const sinceMs = clocks.steadyMs() - shownMs;
    for (const subject of this.#shownSubjects) if (subject.shownAtMs < sinceMs) this.#shownSubjects.delete(subject);
    await this.#refreshCounts([...this.#shownSubjects].slice(0, maxShown));
  }

  async #restore(): Promise<void> {
    await this.#catchUp();
    this.#ports.audits.doubt(this.#usedBudgets(), 0);
  }

  #usedBudgets(): CountedSubject[] {
    return [...this.#subjects.all()].filter(({ isUsed, hasBudgets }) => isUsed && hasBudgets);
  }

  /** Renews leases first, because settlements end them. */
  async #catchUp(): Promise<void> {
    const { counts } = this.#ports;
    const running = [...this.#admitted.values()].flatMap(({ subjects }) => subjects);
    for (const subject of new Set([...running, ...this.#subjects.holding()])) {
      if (subject.leases.size > 0) await counts.renew(subject);
    }
    await this.#pendingSettlements.send((settlement) => counts.settle(settlement));
  }
}

function endedOf(id: string, { subjects, estimate, atMs }: Admitted, settled: Settled): EndedRequest {
  return { id, subjects, admittedAtMs: atMs, likelyTokens: estimate.likely.tokens, settled };
}

function limitedCountsOf(limited: Limited, counted: ReplyCounts | undefined): LimitedCounts {
  if (!counted) throw new Error('unreachable: a reply tells of all subjects');
  return { limited, counted };
}

/** Encoded, because Valkey's replies are separated by spaces. */
const leaseName = (job: string) => `job:${encodeURIComponent(job)}`;

// Decides whether counts allow a request, by the same rules as the counts of a single process.

/** A key or group, and the counts that apply to its limits. */
interface LimitedCounts {
  limited: Limited;
  counted: Counted;
}

/** Throws a GatewayError if a limit is reached. */
function refuseIfExceeded(limitedCounts: readonly LimitedCounts[], estimate: Estimate, clocks: Clocks): void {
  const options = { clocks, isFree: estimate === noCharge, isPart: estimate.isPart === true };
  for (const { limited, counted } of limitedCounts) {
    const exceeded = findExceeded(counted, limited.limits, options);
    if (exceeded)
      throw refusal(limited, exceeded, { headers: headersOf(limitedCounts, clocks), nowMs: clocks.wallMs() });
  }
}

function headersOf(limitedCounts: readonly LimitedCounts[], clocks: Clocks): RateHeaders {
  const meters = limitedCounts.flatMap(({ limited, counted }) => rateMeters(counted, limited.limits, clocks));
  return rateHeaders(meters, clocks.wallMs());
}

/**
 * Beyond this number, the audit against the ledger restores what was spent. The oldest are kept, since they end leases.
 */
const maxPending = 10_000;
const batchSize = 100;

/** Settlements that have not reached Valkey, or may not have. */
class PendingSettlements {
  #settlements: Settlement[] = [];

  add(settlement: Settlement): void {
    if (this.#settlements.length < maxPending) this.#settlements.push(settlement);
  }

  /**
   * Sends the settlements that are waiting now, in order. Rejects with the first failure; those that did not arrive
   * stay.
   */
  async send(settle: (settlement: Settlement) => Promise<unknown>): Promise<void> {
    for (let remaining = this.#settlements.length; remaining > 0; remaining -= batchSize) {
      const batch = this.#settlements.splice(0, Math.min(batchSize, remaining));
      const results = await Promise.allSettled(batch.map(settle));
      this.#settlements.unshift(...batch.filter((_, index) => results[index]?.status === 'rejected'));
      const failure = results.find((result) => result.status === 'rejected');
      if (failure) throw failure.reason;
    }
  }
}

// Limits while Valkey is unavailable: each replica allows an equal share, judged by its own counts.

const retryAfterSeconds = 5;

/** A replica's share of the limits, at least 1 of each; budgets as `DegradedCounts` counts them. */
function shareOf(limits: Limits, replicas: number): Limits {
  const share = (amount: number | undefined) =>
    amount === undefined ? undefined : Math.max(1, Math.floor(amount / replicas));
  const { requestsPerMinute, tokensPerMinute, concurrent, budgets } = limits;
  return {
    requestsPerMinute: share(requestsPerMinute),
    tokensPerMinute: share(tokensPerMinute),
    concurrent: share(concurrent),
    budgets,
  };
}

/**
 * The counts of this replica. For a budget, what it has spent since the last reply is multiplied by the number of
 * replicas, because each of them may have spent the same. It is never less
 * than the amount in the ledger.
 */
export class DegradedCounts implements Counted {
  readonly requests: Counted['requests'];
  readonly tokens: Counted['tokens'];
  readonly running: number;
  readonly reserved: Counted['reserved'];
  readonly #account: Account;
  readonly #subject: CountedSubject;
  readonly #replicas: number;

  constructor(account: Account, subject: CountedSubject, replicas: number) {
    const { likely, most } = account.reserved;
    this.#account = account;
    this.#subject = subject;
    this.#replicas = replicas;
    this.requests = account.requests;
    this.tokens = account.tokens;
    this.running = account.running;
    this.reserved = { likely, most: { usd: most.usd * replicas, tokens: most.tokens * replicas } };
  }

  spent(per: Budget['per']): ReturnType<Counted['spent']> {
    const counted = this.#account.spent(per);
    const lastSpent = this.#subject.lastSpent(per, counted.period);
    if (!lastSpent) return counted;
    const ownSpent = this.#account.own(per);
    const since = (unit: keyof Spent) => Math.max(0, ownSpent[unit] - lastSpent.own[unit]) * this.#replicas;
    const { usd, tokens, unpriced } = lastSpent.all;
    const spent = largest(counted.spent, {
      usd: usd + since('usd'),
      tokens: tokens + since('tokens'),
      unpriced: unpriced + since('unpriced'),
    });
    return { period: counted.period, spent, isKnown: true };
  }
}

/** A hard budget blocks while its rest is unknown. */
function countsUnavailable(limited: Limited): GatewayError {
  return new GatewayError(
    'shared_counts_unavailable',
    `Valkey, where the replicas of Sluice count together, cannot be reached now, so it is not known what is left of the hard budget of ${nameOf(limited)}. Please try again in a few seconds. To go on without it, set settings.sharedCounts.hardBudgets to "open".`,
    { retryAfterSeconds },
  );
}
