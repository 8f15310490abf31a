/**
 * Counts limits together with other replicas. One script in Valkey admits a request by the limits of its key and group,
 * in one round trip. The request's usage is written afterwards, and no request waits for that. Valkey is not asked
 * about requests that no limit can refuse. Everything is also counted locally, so that this replica can continue alone
 * at any moment.
 */
import type { RequestRecord } from '../contract/ledger.ts';
import type { Limited, LimitMeter, LimitScope } from '../contract/limits.ts';
import type { SharedCountsSettings } from '../contract/replica-limits.ts';
import type { Amounts } from '../ledger/usage-history.ts';
import { type Clocks, type Estimate, free, type Settled } from '../limits/account.ts';
import type { JobOwner, Limiter, RateHeaders } from '../limits/limiter.ts';
import { type LocalLimiter, payersOf, settledBy } from '../limits/local-limiter.ts';
import { metersOf } from '../limits/meters.ts';
import { unknownSpending } from '../limits/refusal.ts';
import { nothing } from '../limits/spending.ts';
import { AloneCounts, countsUnavailable, shareOf } from './alone.ts';
import type { BudgetAudits } from './budget-audits.ts';
import { CountedParties } from './counted-parties.ts';
import type { CountedParty } from './counted-party.ts';
import type { CountsConnection } from './counts-connection.ts';
import { headersOf, type Judged, refuseIfExceeded } from './judged.ts';
import { LateSettlements } from './late-settlements.ts';
import type { Asked, Ended, ReplicaCounts } from './replica-counts.ts';
import type { SeenCounts } from './seen-counts.ts';

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
  parties: readonly CountedParty[];
  estimate: Estimate;
  /** By Valkey's clock; 0 if Valkey was not asked. */
  atMs: number;
}

/** Meters are kept up to date for this long after they were last requested. */
const shownMs = 15_000;
const mostShown = 200;
const withdrawn: Settled = { startedAt: 0, used: nothing, isVoid: true };

export class ReplicaLimiter implements Limiter {
  readonly #ports: ReplicaLimiterPorts;
  readonly #parties = new CountedParties();
  readonly #admitted = new Map<string, Admitted>();
  readonly #late = new LateSettlements();

  constructor(ports: ReplicaLimiterPorts) {
    this.#ports = ports;
  }

  /** Resolves when limits are counted together, or when it is known that they cannot be now. */
  begin(): Promise<void> {
    return this.#ports.connection.attend({ renew: () => this.#renew(), restore: () => this.#restore() });
  }

  admit(id: string, limitedBy: readonly Limited[], estimate: Estimate): RateHeaders | Promise<RateHeaders> {
    const parties = limitedBy.map((limited) => this.#parties.of(limited));
    if (!this.#ports.connection.isUp) return this.#admitAlone(id, parties, estimate);
    if (parties.some((party) => (estimate === free ? party.canRefuseFree : party.canRefuse)))
      return this.#admitTogether(id, parties, estimate);
    this.#take(id, { parties, estimate, atMs: 0 });
    return {};
  }

  admitAtOnce(id: string, limitedBy: readonly Limited[], estimate: Estimate): RateHeaders {
    const { connection, counts, clocks } = this.#ports;
    const parties = limitedBy.map((limited) => this.#parties.of(limited));
    if (!connection.isUp) return this.#admitAlone(id, parties, estimate);
    const judged = parties.map((party) => ({
      limited: party.limited,
      counted: party.seen ?? this.#ports.local.account(party.limited),
    }));
    refuseIfExceeded(judged, estimate, clocks);
    this.#take(id, { parties, estimate, atMs: connection.serverMs() });
    // If this fails, a later beat writes the lease.
    counts.ask(id, parties, estimate, 'none').catch(() => {});
    return headersOf(judged, clocks);
  }

  finished(record: RequestRecord): void {
    this.#ports.local.finished(record);
    const settled = settledBy(record);
    const admitted = this.#admitted.get(record.id);
    if (admitted) {
      this.#admitted.delete(record.id);
      for (const { leases } of admitted.parties) leases.delete(record.id);
      this.#settle(endedOf(record.id, admitted, settled));
    }
    // The request may have begun before its key or group had limits.
    for (const named of payersOf({ keyId: record.keyId, groupId: record.groupId ?? '' })) {
      const party = this.#parties.get(named);
      if (!party?.hasBudgets || admitted?.parties.some((each) => each.limited.scope === party.limited.scope)) continue;
      this.#settle(endedOf(record.id, { parties: [party], estimate: free, atMs: 0 }, settled));
    }
  }

  hold(job: string, owner: JobOwner, most: Amounts): void {
    const { local, counts, connection } = this.#ports;
    local.hold(job, owner, most);
    const lease = [leaseName(job), counts.leaseOf(most, false)] as const;
    for (const named of payersOf(owner)) {
      const party = this.#parties.hold(named, ...lease);
      // If this fails, a later beat renews it.
      if (party?.hasBudgets && connection.isUp) counts.renew(party, [lease]).catch(() => {});
    }
  }

  release(job: string, owner: JobOwner): void {
    this.#ports.local.release(job, owner);
    for (const named of payersOf(owner)) {
      const party = this.#parties.release(named, leaseName(job));
      if (party?.hasBudgets) this.#withdraw(leaseName(job), [party]);
    }
  }

  meters(limited: Limited): LimitMeter[] {
    const { connection, clocks, local } = this.#ports;
    const party = this.#parties.of(limited);
    party.shownAtMs = clocks.steadyMs();
    const seen = connection.isUp ? party.seen : null;
    return metersOf(seen ?? local.account(limited), limited.limits, clocks);
  }

  async refresh(limitedBy: readonly Limited[]): Promise<void> {
    if (!this.#ports.connection.isUp) return;
    await this.#look(limitedBy.map((limited) => this.#parties.of(limited))).catch(() => {});
  }

  recall(limitedBy: Iterable<Limited>): Promise<void> {
    return this.#ports.local.recall(limitedBy);
  }

  forget(scope: LimitScope, id: string): void {
    const { local, connection, audits } = this.#ports;
    local.forget(scope, id);
    const party = this.#parties.remove({ scope, id });
    if (party) audits.forget(party);
    if (party && connection.isUp) connection.remove(party.at(connection.serverMs()).keys).catch(() => {});
  }

  async #admitTogether(id: string, parties: readonly CountedParty[], estimate: Estimate): Promise<RateHeaders> {
    const asked = await this.#ask(id, parties, estimate).catch(() => null);
    if (asked === null) return this.#admitUnanswered(id, parties, estimate);
    const { clocks } = this.#ports;
    const judged = parties.map(({ limited }, index) => judgedBy(limited, asked.seen[index]));
    if (asked.verdict === 'admitted') {
      this.#take(id, { parties, estimate, atMs: asked.serverMs });
      return headersOf(judged, clocks);
    }
    const unknown = parties.find(({ hasHardBudget }) => hasHardBudget);
    if (asked.verdict === 'unknown-spending' && unknown) throw unknownSpending(unknown.limited);
    const [first] = asked.seen;
    // Uses the time of the reply, because a moment later the limit may no longer be reached.
    refuseIfExceeded(judged, estimate, { ...clocks, steadyMs: () => first?.at.steadyMs ?? clocks.steadyMs() });
    throw new Error('unreachable: it was refused, but no limit is reached');
  }

  /**
   * If Valkey does not know the amount spent in this period so far, its sum is first set from the ledger, and Valkey is
   * asked again.
   */
  async #ask(id: string, parties: readonly CountedParty[], estimate: Estimate): Promise<Asked> {
    const { counts, audits } = this.#ports;
    const checks = estimate === free ? 'free' : 'all';
    const asked = await counts.ask(id, parties, estimate, checks);
    if (asked.verdict !== 'unknown-spending') return asked;
    await Promise.all(parties.map((party) => audits.now(party)));
    return counts.ask(id, parties, estimate, checks);
  }

  /** Valkey may have admitted the request even though its reply was lost. */
  #admitUnanswered(id: string, parties: readonly CountedParty[], estimate: Estimate): RateHeaders {
    try {
      return this.#admitAlone(id, parties, estimate);
    } catch (refused) {
      this.#withdraw(id, parties);
      throw refused;
    }
  }

  #admitAlone(id: string, parties: readonly CountedParty[], estimate: Estimate): RateHeaders {
    const { connection, clocks, settings, local } = this.#ports;
    const { replicas } = connection.view;
    const isClosed = estimate !== free && settings().hardBudgets === 'closed';
    const judged = parties.map((party) => {
      const { limited } = party;
      if (isClosed && party.hasHardBudget) throw countsUnavailable(limited);
      const limits = shareOf(limited.limits, replicas);
      return { limited: { ...limited, limits }, counted: new AloneCounts(local.account(limited), party, replicas) };
    });
    refuseIfExceeded(judged, estimate, clocks);
    this.#take(id, { parties, estimate, atMs: 0 });
    return headersOf(judged, clocks);
  }

  #take(id: string, admitted: Admitted): void {
    const { parties, estimate } = admitted;
    const { local, counts } = this.#ports;
    const limitedBy = parties.map(({ limited }) => limited);
    local.take(id, limitedBy, estimate);
    this.#admitted.set(id, admitted);
    const lease = counts.leaseOf(estimate.most, !estimate.isPart);
    for (const party of parties) {
      party.isUsed = true;
      if (party.hasLeases) party.leases.set(id, lease);
    }
  }

  #settle(ended: Ended): void {
    const { connection, counts } = this.#ports;
    const settlement = counts.settlementOf(ended);
    if (!connection.isUp) this.#late.add(settlement);
    else counts.settle(settlement).catch(() => this.#late.add(settlement));
  }

  /** Ends a lease without any usage. */
  #withdraw(id: string, parties: readonly CountedParty[]): void {
    this.#settle(endedOf(id, { parties, estimate: free, atMs: 0 }, withdrawn));
  }

  async #look(parties: readonly CountedParty[]): Promise<void> {
    await Promise.all(parties.map((party) => this.#ports.counts.ask('', [party], free, 'none')));
  }

  async #renew(): Promise<void> {
    const { clocks, audits } = this.#ports;
    await this.#catchUp();
    if (audits.hasCaughtUp()) audits.doubt(this.#usedBudgets());
    const sinceMs = clocks.steadyMs() - shownMs;
    const shown = [...this.#parties.all()].filter(({ shownAtMs }) => shownAtMs >= sinceMs);
    await this.#look(shown.slice(0, mostShown));
  }

  async #restore(): Promise<void> {
    await this.#catchUp();
    this.#ports.audits.doubt(this.#usedBudgets(), 0);
  }

  #usedBudgets(): CountedParty[] {
    return [...this.#parties.all()].filter(({ isUsed, hasBudgets }) => isUsed && hasBudgets);
  }

  /** Renews leases first, because settlements end them. */
  async #catchUp(): Promise<void> {
    const { counts } = this.#ports;
    for (const party of this.#parties.all()) if (party.leases.size > 0) await counts.renew(party);
    await this.#late.send((settlement) => counts.settle(settlement));
  }
}

function endedOf(id: string, { parties, estimate, atMs }: Admitted, settled: Settled): Ended {
  return { id, parties, admittedAtMs: atMs, likelyTokens: estimate.likely.tokens, settled };
}

function judgedBy(limited: Limited, counted: SeenCounts | undefined): Judged {
  if (!counted) throw new Error('unreachable: a reply tells of all parties');
  return { limited, counted };
}

/** Encoded, because Valkey's replies are separated by spaces. */
const leaseName = (job: string) => `job:${encodeURIComponent(job)}`;
