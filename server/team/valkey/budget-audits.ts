/**
 * Reconciles the sums of budgets in Valkey with the ledger, which is the authority. A request that ends is added to
 * both, each time by its id, so that it counts once. They differ only if Valkey has lost its data, or missed requests
 * that ended while it was unavailable. Then they are compared:
 *
 * 1. a snapshot of the ledger is read;
 * 2. Valkey returns its sum, and the requests of all replicas that ended in the last seconds;
 * 3. the ledger returns which of these its snapshot contains.
 *
 * The sum should equal the snapshot plus those requests that it does not contain yet. The difference is added to
 * Valkey's sum, which may grow meanwhile; if several replicas have compared the same sum, only one adds it.
 *
 * Only a request that was in the ledger's snapshot, but reached Valkey after step 2, would now count twice. Usually
 * Valkey learns of a request long before the ledger is written. A replica that reports late, after Valkey was
 * unavailable, compares afterwards; and each replica keeps comparing as long as earlier commands and leases may have an
 * effect, and until nothing is missing.
 */

import type { Period } from '../../contract/calendar.ts';
import type { LimitScope } from '../../contract/limits.ts';
import { after } from '../../ground/timers.ts';
import type { Clocks } from '../../limits/account.ts';
import { BatchedQueries } from '../../store/rules/batched-queries.ts';
import type { Ledger } from '../../store/sqlite/ledger.ts';
import type { LedgerMoment, RequestName, Spent, SpentQuery, UsageHistory } from '../../store/sqlite/usage-history.ts';
import { type CountedSubject, endOf } from './counted-subject.ts';
import type { CountsConnection } from './counts-connection.ts';
import type { BudgetPeriod } from './subject-call.ts';

interface BudgetAuditsPorts {
  connection: CountsConnection;
  /** As in `ReplicaCounts`. */
  ledgerName: string;
  ledger: Pick<Ledger, 'flush' | 'health'>;
  history: UsageHistory<LimitScope>;
  clocks: Clocks;
}

/** A period of a subject's budgets. */
interface Audited {
  subject: CountedSubject;
  period: BudgetPeriod;
}

interface Compared extends Audited {
  sum: BudgetSumReply;
  missing: Spent;
}

export class BudgetAudits {
  readonly #ports: BudgetAuditsPorts;
  readonly #audits = new BatchedQueries<CountedSubject, boolean>((subjects) => this.#audit(subjects));
  /** The earliest time at which the comparisons of a subject may stop, on the monotonic clock. */
  readonly #inDoubt = new Map<CountedSubject, number>();
  #timer: NodeJS.Timeout | null = null;
  #isInRound = false;
  #isClosed = false;
  #wasBehind = false;

  constructor(ports: BudgetAuditsPorts) {
    this.#ports = ports;
  }

  /** Resolves with true if nothing was missing. Rejects if Valkey or the ledger cannot be read. */
  now(subject: CountedSubject): Promise<boolean> {
    return this.#audits.ask(subject);
  }

  /** Compares the subjects every few seconds, for at least as long as a lease lasts and until nothing is missing. */
  doubt(subjects: readonly CountedSubject[], firstAfterMs = this.#everyMs): void {
    const { clocks, connection } = this.#ports;
    for (const subject of subjects) this.#inDoubt.set(subject, clocks.steadyMs() + connection.leaseMs);
    if (firstAfterMs < this.#everyMs) this.#disarm();
    this.#arm(firstAfterMs);
  }

  forget(subject: CountedSubject): void {
    this.#inDoubt.delete(subject);
  }

  /**
   * True once after requests of this replica had to wait for the ledger, because other replicas may have compared
   * without them.
   */
  hasCaughtUp(): boolean {
    const wasBehind = this.#wasBehind;
    this.#wasBehind = this.#isBehind;
    return wasBehind && !this.#wasBehind;
  }

  close(): void {
    this.#isClosed = true;
    this.#disarm();
  }

  get #isBehind(): boolean {
    const { ok, spooled } = this.#ports.ledger.health();
    return !ok || spooled > 0;
  }

  get #everyMs(): number {
    return this.#ports.connection.leaseMs / 3;
  }

  #arm(afterMs: number): void {
    if (this.#isClosed || this.#inDoubt.size === 0) return;
    this.#timer ??= after(() => this.#round(), afterMs).unref();
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #round(): Promise<void> {
    this.#disarm();
    if (!this.#isInRound && this.#ports.connection.isUp) {
      this.#isInRound = true;
      await this.#ports.ledger.flush();
      if (!this.#isBehind) await Promise.all([...this.#inDoubt].map((each) => this.#auditInDoubt(...each)));
      this.#isInRound = false;
    }
    this.#arm(this.#everyMs);
  }

  async #auditInDoubt(subject: CountedSubject, untilMs: number): Promise<void> {
    const isExact = await this.now(subject).catch(() => false);
    const isOver = this.#ports.clocks.steadyMs() >= untilMs && this.#inDoubt.get(subject) === untilMs;
    if (isExact && isOver) this.#inDoubt.delete(subject);
  }

  /** Resolves with whether nothing was missing, in the order of the subjects. */
  async #audit(subjects: readonly CountedSubject[]): Promise<boolean[]> {
    const nowMs = this.#ports.connection.serverMs();
    const audited = [...new Set(subjects)].flatMap((subject) =>
      subject.at(nowMs).periods.map((period) => ({ subject, period })),
    );
    const compared = await this.#atSnapshot(audited, (ledgerMoment) => this.#compare(audited, ledgerMoment));
    const wrong = compared.filter(({ sum, missing }) => !sum.isKnown || !isNothing(missing));
    await Promise.all(wrong.map((each) => this.#correct(each)));
    return subjects.map((subject) => wrong.every((each) => each.subject !== subject));
  }

  #atSnapshot<T>(
    audited: readonly Audited[],
    work: (ledgerMoment: LedgerMoment<LimitScope>) => Promise<T>,
  ): Promise<T> {
    const { history } = this.#ports;
    if (history.atSnapshot) return history.atSnapshot(work);
    // This replica's own ledger answers synchronously, and contains requests as soon as they end.
    const isRunning = (id: string) => audited.some(({ subject }) => subject.leases.has(id));
    return work({
      spent: (questions) => questions.map(({ scope, id, range }) => history.spent(scope, id, range) as Spent),
      ended: (requests) => new Set(requests.flatMap(({ id }) => (isRunning(id) ? [] : [id]))),
    });
  }

  async #compare(audited: readonly Audited[], ledgerMoment: LedgerMoment<LimitScope>): Promise<Compared[]> {
    const pendingSums = ledgerMoment.spent(audited.map(questionOf));
    // If it is not a promise, no request may end before Valkey is queried.
    const ledgerSums = pendingSums instanceof Promise ? await pendingSums : pendingSums;
    const sums = await Promise.all(audited.map((each) => this.#ask(each)));
    const inLedger = await ledgerMoment.ended(sums.flatMap(({ ended }) => ended));
    return audited.map((each, index) => {
      const [sum, spent] = [sums[index], ledgerSums[index]];
      if (!sum || !spent) throw new Error('unreachable: each question has an answer');
      return { ...each, sum, missing: missingIn(sum, spent, { period: each.period, inLedger }) };
    });
  }

  async #ask({ subject, period }: Audited): Promise<BudgetSumReply> {
    const { connection, ledgerName } = this.#ports;
    return readBudgetSumReply(
      await connection.run('sum', [...subject.endedKeys, period.key], [ledgerName]),
      ledgerName,
    );
  }

  async #correct({ period, sum, missing: { usd, tokens, unpriced } }: Compared): Promise<void> {
    const { connection, ledgerName } = this.#ports;
    const amounts = [usd, tokens, unpriced].map(String);
    await connection.run('correct', [period.key], [ledgerName, sum.corrected, ...amounts, endOf(period.endMs)]);
  }
}

function questionOf({ subject, period }: Audited): SpentQuery<LimitScope> {
  const { scope, id, sinceMs } = subject.limited;
  const { startMs, endMs } = period;
  return { scope, id, range: { startMs: Number.isFinite(startMs) ? Math.max(startMs, sinceMs) : startMs, endMs } };
}

function isNothing({ usd, tokens, unpriced }: Spent): boolean {
  return usd === 0 && tokens === 0 && unpriced === 0;
}

// Valkey's sum of a budget period for one ledger, and the difference to the ledger.

/** A request that was reported to Valkey as ended, or whose lease has lapsed. */
interface EndedRequest extends RequestName, Spent {}

interface BudgetSumReply {
  counted: Spent;
  /** When the sum was last corrected, as it is in the reply. */
  corrected: string;
  /** False if Valkey does not know what was spent before. */
  isKnown: boolean;
  /** Requests of the last seconds, whose rows may not be in the ledger yet. */
  ended: readonly EndedRequest[];
}

/** Parses the reply of the script `sum`. */
function readBudgetSumReply(reply: string, ledger: string): BudgetSumReply {
  const [usd, tokens, unpriced, corrected = '', isKnown, ...ended] = reply.split(' ');
  return {
    counted: { usd: Number(usd), tokens: Number(tokens), unpriced: Number(unpriced) },
    corrected,
    isKnown: isKnown === '1',
    ended: ended.flatMap((each) => readEnd(each, ledger)),
  };
}

function readEnd(text: string, ledger: string): EndedRequest[] {
  const [id = '', startedAt, usd, tokens, unpriced, of] = text.split('|');
  if (of !== ledger) return [];
  return [{ id, startedAt: Number(startedAt), usd: Number(usd), tokens: Number(tokens), unpriced: Number(unpriced) }];
}

/** `ledgerTotal`: the total of the ledger's snapshot. `inLedger`: the ended requests that it contains. */
function missingIn(
  { counted, ended }: BudgetSumReply,
  ledgerTotal: Spent,
  { period: { startMs, endMs }, inLedger }: { period: Period; inLedger: ReadonlySet<string> },
): Spent {
  const unwritten = ended.filter(({ id, startedAt }) => !inLedger.has(id) && startedAt >= startMs && startedAt < endMs);
  const missing = (unit: keyof Spent) =>
    unwritten.reduce((sum, each) => sum + each[unit], ledgerTotal[unit]) - counted[unit];
  const usd = missing('usd');
  return {
    // Floating-point sums depend on the order of addition.
    usd: Math.abs(usd) <= 1e-9 * Math.max(1, ledgerTotal.usd) ? 0 : usd,
    tokens: Math.round(missing('tokens')),
    // The ledger's total for all time does not include them.
    unpriced: Number.isFinite(startMs) ? missing('unpriced') : 0,
  };
}
