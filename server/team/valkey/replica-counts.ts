/** The limiter's commands to Valkey: the scripts with their arguments, and their replies. */
import type { Limited, LimitReached } from '../../contract/limits.ts';
import type { Account, Clocks, Estimate, Settled } from '../../limits/account.ts';
import { announcedBudgets, percentOf } from '../../limits/local-limiter.ts';
import type { Counted } from '../../limits/meters.ts';
import type { Amounts, Spent } from '../../store/sqlite/usage-history.ts';
import type { BudgetAudits } from './budget-audits.ts';
import type { CountedSubject } from './counted-subject.ts';
import type { CountsConnection } from './counts-connection.ts';
import { ReplyCounts, ReplyNumbers, type ReplyTime } from './reply-counts.ts';

/** Which limits are checked. `free`: all except budgets. */
type Checks = 'all' | 'free' | 'none';
type Verdict = 'admitted' | 'refused' | 'unknown-spending';

export interface AdmissionReply {
  verdict: Verdict;
  /** By Valkey's clock, in Unix milliseconds. */
  serverMs: number;
  /** Counts of each subject. */
  replies: readonly ReplyCounts[];
}

/** An ended request. */
export interface EndedRequest {
  id: string;
  subjects: readonly CountedSubject[];
  /** By Valkey's clock; 0 if Valkey was not asked. */
  admittedAtMs: number;
  likelyTokens: number;
  settled: Settled;
}

/** The changes in Valkey for an ended request. */
export interface Settlement {
  subjects: readonly CountedSubject[];
  settled: Settled;
  keys: readonly string[];
  args: readonly string[];
}

interface ReplicaCountsPorts {
  connection: CountsConnection;
  /** The ledger that contains this replica's requests. Replicas with a common ledger use the same name. */
  ledger: string;
  audits: BudgetAudits;
  clocks: Clocks;
  /** This replica's own counts of a subject. */
  account(subject: CountedSubject): Account;
  reached(notice: LimitReached): void;
}

const verdicts: readonly Verdict[] = ['refused', 'admitted', 'unknown-spending'];
const leasesAtOnce = 500;

export class ReplicaCounts {
  readonly #ports: ReplicaCountsPorts;

  constructor(ports: ReplicaCountsPorts) {
    this.#ports = ports;
  }

  /** A lease in the form that the scripts use. */
  leaseOf({ usd, tokens }: Amounts, isRunning: boolean): string {
    return `${isRunning ? 1 : 0}|${usd}|${Math.round(tokens)}|${this.#ports.ledger}`;
  }

  /** Asks to admit a request; with an empty id it only reads the counts. Rejects with a LinkError. */
  async ask(
    id: string,
    subjects: readonly CountedSubject[],
    estimate: Estimate,
    checks: Checks,
  ): Promise<AdmissionReply> {
    const { connection, ledger } = this.#ports;
    const nowMs = connection.serverMs();
    const { likely, most, isPart } = estimate;
    const args = [id, checks, isPart ? '0' : '1', String(connection.leaseMs), ledger];
    args.push(integer(likely.tokens), String(most.usd), integer(most.tokens), String(subjects.length));
    const keys: string[] = [];
    for (const subject of subjects) addCall(subject, nowMs, keys, args);
    const numbers = new ReplyNumbers(await connection.run('admit', keys, args));
    const verdict = verdicts[numbers.next()] ?? 'refused';
    const at = this.#readTime(numbers);
    const replies = subjects.map((subject) => this.#readReply(subject, nowMs, numbers, at));
    if (verdict === 'refused') for (const each of replies) each.readSlots(numbers);
    return { verdict, serverMs: at.serverMs, replies };
  }

  /** Must be created when the request ends, even if it is sent later. */
  settlementOf({ id, subjects, admittedAtMs, likelyTokens, settled }: EndedRequest): Settlement {
    const { used, isVoid, startedAt } = settled;
    const difference = Math.round(used.tokens) - Math.round(likelyTokens);
    const args = [id, String(startedAt), String(admittedAtMs)];
    args.push(isVoid ? '-1' : '0', String(Math.min(0, difference)), String(Math.max(0, difference)));
    args.push(String(used.usd), integer(used.tokens), String(used.unpriced));
    args.push(this.#ports.ledger, String(subjects.length));
    const keys: string[] = [];
    // Counted in the period in which it began, as in the ledger.
    for (const subject of subjects) addCall(subject, startedAt, keys, args);
    return { subjects, settled, keys, args };
  }

  /** Counts once, however often it is sent. Rejects with a LinkError. */
  async settle({ subjects, settled, keys, args }: Settlement): Promise<void> {
    const { connection, reached } = this.#ports;
    const numbers = new ReplyNumbers(await connection.run('settle', keys, args));
    numbers.next();
    const at = this.#readTime(numbers);
    for (const subject of subjects) {
      const reply = this.#readReply(subject, settled.startedAt, numbers, at);
      reportReached(subject.limited, reply, settled.used, reached);
    }
  }

  /** Prolongs the leases of a subject, and restores those that are gone. Rejects with a LinkError. */
  async renew(subject: CountedSubject, leases: Iterable<readonly [string, string]> = subject.leases): Promise<void> {
    const leaseList = [...leases];
    for (let first = 0; first < leaseList.length; first += leasesAtOnce) {
      const args = [String(this.#ports.connection.leaseMs), ...leaseList.slice(first, first + leasesAtOnce).flat()];
      await this.#ports.connection.run('renew', subject.leaseKeys, args);
    }
  }

  #readTime(numbers: ReplyNumbers): ReplyTime {
    return { serverMs: numbers.next(), steadyMs: this.#ports.clocks.steadyMs() };
  }

  #readReply(subject: CountedSubject, atMs: number, numbers: ReplyNumbers, at: ReplyTime): ReplyCounts {
    const { audits } = this.#ports;
    const account = this.#ports.account(subject);
    const reply = new ReplyCounts(numbers, at, { call: subject.at(atMs), likely: account.reserved.likely });
    // Another replica may have begun the count without the request that just ended here.
    if (subject.applyReply(reply, account)) audits.doubt([subject]);
    if (reply.isUnknown) audits.now(subject).catch(() => {});
    return reply;
  }
}

function addCall(subject: CountedSubject, atMs: number, keys: string[], args: string[]): void {
  const call = subject.at(atMs);
  keys.push(...call.keys);
  args.push(...call.args);
  for (const period of call.periods) args.push(...period.args);
}

function integer(amount: number): string {
  return String(Math.round(amount));
}

/**
 * Reports the budgets that have reached a percentage that they name with the amount just added, which only one of all replicas
 * adds.
 */
function reportReached(
  { scope, id, name, limits }: Limited,
  counted: Pick<Counted, 'spent'>,
  added: Spent,
  onReached: (notice: LimitReached) => void,
): void {
  for (const budget of announcedBudgets(limits)) {
    const { period, spent } = counted.spent(budget.per);
    const used = spent[budget.unit];
    const percent = percentOf(budget, used);
    if (percent === 0 || percent <= percentOf(budget, used - added[budget.unit])) continue;
    const resetsAt = Number.isFinite(period.endMs) ? period.endMs : null;
    onReached({ scope, id, name, budget, percent, used, resetsAt });
  }
}
