/**
 * Makes the sums of budgets in Valkey equal to the ledger, which is the only place of money. Each request that ends adds to both at
 * once, so they differ only if Valkey has lost its data, or if what ended while it was away did not arrive, or arrived late. Then
 * they are compared, in this order:
 *
 * 1. the ledger is read as of one moment;
 * 2. Valkey tells its sum, and the requests that have ended in the last seconds (`settled`), from all replicas;
 * 3. it is looked up which of these the ledger held at that moment.
 *
 * The sum should be what the ledger held, and the ended requests that it did not hold. The difference is added, rather than the
 * sum replaced, so that what ends meanwhile is not lost; of two replicas that compare at the same time, one adds it. A request that the ledger
 * held, and of which Valkey was told only after step 2, would count twice. It is one that was told late: its own replica compares after
 * telling it, so the last comparison is exact.
 */
import { AskedTogether } from '../database/asked-together.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { LedgerMoment, Spent, SpentQuestion, UsageHistory } from '../ledger/usage-history.ts';
import type { Clocks } from '../limits/account.ts';
import { type CountedParty, endOf } from './counted-party.ts';
import type { CountsConnection } from './counts-connection.ts';
import type { BudgetPeriod } from './party-call.ts';
import { missingIn, readToldSum, type ToldSum } from './told-sum.ts';

interface BudgetAuditsPorts {
  connection: CountsConnection;
  /** As in `ReplicaCounts`. */
  ledgerName: string;
  ledger: Pick<Ledger, 'flush' | 'health'>;
  history: UsageHistory;
  clocks: Clocks;
}

/** A period of a party's budgets. */
interface Audited {
  party: CountedParty;
  period: BudgetPeriod;
}

interface Compared extends Audited {
  told: ToldSum;
  missing: Spent;
}

export class BudgetAudits {
  readonly #ports: BudgetAuditsPorts;
  readonly #audits = new AskedTogether<CountedParty, boolean>((parties) => this.#audit(parties));
  /** Until when they are compared at least, on the monotonic clock. */
  readonly #inDoubt = new Map<CountedParty, number>();
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;
  #wasBehind = false;

  constructor(ports: BudgetAuditsPorts) {
    this.#ports = ports;
  }

  /** Resolves with whether nothing was missing. Rejects if Valkey or the ledger cannot be asked. */
  now(party: CountedParty): Promise<boolean> {
    return this.#audits.ask(party);
  }

  /** Compares every few seconds, for as long as leases may lapse and until nothing is missing. */
  doubt(parties: readonly CountedParty[]): void {
    const { clocks, connection } = this.#ports;
    for (const party of parties) this.#inDoubt.set(party, clocks.steadyMs() + connection.leaseMs);
    this.#arm();
  }

  /** Compares those in doubt now. */
  begin(): void {
    void this.#round();
  }

  forget(party: CountedParty): void {
    this.#inDoubt.delete(party);
  }

  /** True once after requests of this replica had to wait for the ledger: others may have compared without them. */
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

  #arm(): void {
    if (this.#isClosed || this.#inDoubt.size === 0) return;
    this.#timer ??= setTimeout(() => void this.#round(), this.#ports.connection.leaseMs / 3).unref();
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #round(): Promise<void> {
    this.#disarm();
    await this.#ports.ledger.flush();
    if (!this.#isBehind) await Promise.all([...this.#inDoubt].map((each) => this.#auditInDoubt(...each)));
    this.#arm();
  }

  async #auditInDoubt(party: CountedParty, untilMs: number): Promise<void> {
    const isExact = await this.now(party).catch(() => false);
    const isOver = this.#ports.clocks.steadyMs() >= untilMs && this.#inDoubt.get(party) === untilMs;
    if (isExact && isOver) this.#inDoubt.delete(party);
  }

  /** Resolves with whether nothing was missing, in the order of the parties. */
  async #audit(parties: readonly CountedParty[]): Promise<boolean[]> {
    const nowMs = this.#ports.connection.serverMs();
    const all = [...new Set(parties)].flatMap((party) => party.at(nowMs).periods.map((period) => ({ party, period })));
    const compared = await this.#atOneMoment(all, (moment) => this.#compare(all, moment));
    const wrong = compared.filter(({ told, missing }) => !told.isKnown || !isNothing(missing));
    await Promise.all(wrong.map((each) => this.#correct(each)));
    return parties.map((party) => wrong.every((each) => each.party !== party));
  }

  #atOneMoment<T>(all: readonly Audited[], work: (moment: LedgerMoment) => Promise<T>): Promise<T> {
    const { history } = this.#ports;
    if (history.atOneMoment) return history.atOneMoment(work);
    // This replica's own ledger answers at once, and has requests as soon as they end.
    const isRunning = (id: string) => all.some(({ party }) => party.leases.has(id));
    return work({
      spent: (questions) => questions.map(({ scope, id, range }) => history.spent(scope, id, range) as Spent),
      ended: (requests) => new Set(requests.flatMap(({ id }) => (isRunning(id) ? [] : [id]))),
    });
  }

  async #compare(all: readonly Audited[], moment: LedgerMoment): Promise<Compared[]> {
    const asked = moment.spent(all.map(questionOf));
    // If it is there at once, nothing may end before Valkey is asked.
    const held = asked instanceof Promise ? await asked : asked;
    const told = await Promise.all(all.map((each) => this.#ask(each)));
    const inLedger = await moment.ended(told.flatMap(({ ended }) => ended));
    return all.map((each, place) => {
      const [sum, spent] = [told[place], held[place]];
      if (!sum || !spent) throw new Error('unreachable: each question has an answer');
      return { ...each, told: sum, missing: missingIn(sum, spent, { period: each.period, inLedger }) };
    });
  }

  async #ask({ party, period }: Audited): Promise<ToldSum> {
    const { connection, ledgerName } = this.#ports;
    return readToldSum(await connection.run('sum', [...party.endedKeys, period.key], [ledgerName]), ledgerName);
  }

  async #correct({ period, told, missing: { usd, tokens, unpriced } }: Compared): Promise<void> {
    const { connection, ledgerName } = this.#ports;
    const amounts = [usd, tokens, unpriced].map(String);
    await connection.run('correct', [period.key], [ledgerName, told.corrected, ...amounts, endOf(period.endMs)]);
  }
}

function questionOf({ party, period }: Audited): SpentQuestion {
  const { scope, id, sinceMs } = party.limited;
  const { startMs, endMs } = period;
  return { scope, id, range: { startMs: Number.isFinite(startMs) ? Math.max(startMs, sinceMs) : startMs, endMs } };
}

function isNothing({ usd, tokens, unpriced }: Spent): boolean {
  return usd === 0 && tokens === 0 && unpriced === 0;
}
