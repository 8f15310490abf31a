/**
 * Makes the sums of budgets in Valkey equal to the ledger, which is the authority on money. A request that ends is
 * added to both, each time by its id, so that it counts once. The two differ only if Valkey has lost its data, or if
 * requests ended while it was unavailable. Then they are compared:
 *
 * 1. The ledger is read as of one moment.
 * 2. Valkey returns its sum, and the requests of all replicas that ended in the last seconds.
 * 3. The ledger reports which of these it held at that moment.
 *
 * The sum should equal what the ledger held plus those requests that it did not hold yet. The difference is added.
 * Requests that end in the meantime are added as well, and of several replicas that have compared the same sum, only
 * one adds the difference.
 *
 * The only request that would now count twice is one that was in the ledger at step 1 but reached Valkey after step 2.
 * Usually Valkey is notified long before the ledger is written. A replica that notifies it late, because Valkey was
 * unavailable, compares again afterwards. Every replica also goes on comparing for as long as earlier commands and
 * leases may have an effect, and until nothing is missing.
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

/** A budget period of a party. */
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
  /** The earliest time at which the comparisons of a party may stop, on the monotonic clock. */
  readonly #inDoubt = new Map<CountedParty, number>();
  #timer: NodeJS.Timeout | null = null;
  #isInRound = false;
  #isClosed = false;
  #wasBehind = false;

  constructor(ports: BudgetAuditsPorts) {
    this.#ports = ports;
  }

  /** Resolves with true if nothing was missing. Rejects if Valkey or the ledger cannot be read. */
  now(party: CountedParty): Promise<boolean> {
    return this.#audits.ask(party);
  }

  /** Compares the parties every few seconds, for at least as long as a lease lasts and until nothing is missing. */
  doubt(parties: readonly CountedParty[], firstAfterMs = this.#everyMs): void {
    const { clocks, connection } = this.#ports;
    for (const party of parties) this.#inDoubt.set(party, clocks.steadyMs() + connection.leaseMs);
    if (firstAfterMs < this.#everyMs) this.#disarm();
    this.#arm(firstAfterMs);
  }

  forget(party: CountedParty): void {
    this.#inDoubt.delete(party);
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
    this.#timer ??= setTimeout(() => void this.#round(), afterMs).unref();
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

  async #auditInDoubt(party: CountedParty, untilMs: number): Promise<void> {
    const isExact = await this.now(party).catch(() => false);
    const isOver = this.#ports.clocks.steadyMs() >= untilMs && this.#inDoubt.get(party) === untilMs;
    if (isExact && isOver) this.#inDoubt.delete(party);
  }

  /** Resolves with one result per party, in the order of the parties: whether nothing was missing. */
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
    // This replica's own ledger is read synchronously, and contains requests as soon as they end.
    const isRunning = (id: string) => all.some(({ party }) => party.leases.has(id));
    return work({
      spent: (questions) => questions.map(({ scope, id, range }) => history.spent(scope, id, range) as Spent),
      ended: (requests) => new Set(requests.flatMap(({ id }) => (isRunning(id) ? [] : [id]))),
    });
  }

  async #compare(all: readonly Audited[], moment: LedgerMoment): Promise<Compared[]> {
    const asked = moment.spent(all.map(questionOf));
    // If the sums are available synchronously, no request may end before Valkey is read.
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
