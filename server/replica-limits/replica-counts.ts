/** What the limiter asks of Valkey: the scripts with their arguments, and their replies. */
import type { LimitReached } from '../contract/limits.ts';
import type { Amounts, UsageHistory } from '../ledger/usage-history.ts';
import { type Account, type Clocks, type Estimate, free, type Settled } from '../limits/account.ts';
import { largest } from '../limits/spending.ts';
import { type CountedParty, endOf } from './counted-party.ts';
import type { CountsConnection } from './counts-connection.ts';
import { tellReached } from './reached-budgets.ts';
import { ReplyNumbers, type SeenAt, SeenCounts } from './seen-counts.ts';

/** Which limits are checked; `free`: not budgets. */
export type Checks = 'all' | 'free' | 'none';
export type Verdict = 'admitted' | 'refused' | 'unknown-spending';

export interface Asked {
  verdict: Verdict;
  /** By Valkey's clock, in Unix milliseconds. */
  serverMs: number;
  /** Of each party. */
  seen: readonly SeenCounts[];
}

/** An ended request. */
export interface Ended {
  id: string;
  parties: readonly CountedParty[];
  /** By Valkey's clock; 0: Valkey was not asked. */
  admittedAtMs: number;
  likelyTokens: number;
  settled: Settled;
}

/** What an ended request changes in Valkey. */
export interface Settlement {
  parties: readonly CountedParty[];
  settled: Settled;
  keys: readonly string[];
  /** The first is the request's id; whether it is sent again comes after it. */
  args: readonly string[];
}

interface ReplicaCountsPorts {
  connection: CountsConnection;
  /** The ledger that holds this replica's requests; replicas with a common ledger name the same. */
  ledger: string;
  history: UsageHistory;
  clocks: Clocks;
  /** What this replica has counted of a party. */
  account(party: CountedParty): Account;
  reached(notice: LimitReached): void;
}

const verdicts: readonly Verdict[] = ['refused', 'admitted', 'unknown-spending'];
const leasesAtOnce = 500;

export class ReplicaCounts {
  readonly #ports: ReplicaCountsPorts;

  constructor(ports: ReplicaCountsPorts) {
    this.#ports = ports;
  }

  /** A lease as the scripts write it. */
  leaseOf({ usd, tokens }: Amounts, isRunning: boolean): string {
    return `${isRunning ? 1 : 0}|${usd}|${Math.round(tokens)}|${this.#ports.ledger}`;
  }

  /** Asks to admit a request; an empty id only looks. Rejects with a LinkError. */
  async ask(id: string, parties: readonly CountedParty[], estimate: Estimate, checks: Checks): Promise<Asked> {
    const { connection, ledger } = this.#ports;
    const nowMs = connection.serverMs();
    const { likely, most, isPart } = estimate;
    const args = [id, checks, isPart ? '0' : '1', String(connection.leaseMs), ledger];
    args.push(integer(likely.tokens), String(most.usd), integer(most.tokens), String(parties.length));
    const keys: string[] = [];
    for (const party of parties) addCall(party, nowMs, keys, args);
    const numbers = new ReplyNumbers(await connection.run('admit', keys, args));
    const verdict = verdicts[numbers.next()] ?? 'refused';
    const at = this.#readTime(numbers);
    const seen = parties.map((party) => this.#see(party, nowMs, numbers, at));
    if (verdict === 'refused') for (const each of seen) each.readSlots(numbers);
    return { verdict, serverMs: at.serverMs, seen };
  }

  /** To be made when the request ends, even if it is sent later. */
  settlementOf({ id, parties, admittedAtMs, likelyTokens, settled }: Ended): Settlement {
    const { used, isVoid, startedAt } = settled;
    const more = Math.round(used.tokens) - Math.round(likelyTokens);
    const args = [id, String(admittedAtMs), isVoid ? '-1' : '0', String(Math.min(0, more)), String(Math.max(0, more))];
    args.push(String(used.usd), integer(used.tokens), String(used.unpriced));
    args.push(this.#ports.ledger, String(parties.length));
    const keys: string[] = [];
    // As the ledger does: in the period in which it began.
    for (const party of parties) addCall(party, startedAt, keys, args);
    return { parties, settled, keys, args };
  }

  /** `isAgain`: it counts only if it was not counted yet. Rejects with a LinkError. */
  async settle({ parties, settled, keys, args }: Settlement, isAgain: boolean): Promise<void> {
    const { connection, reached } = this.#ports;
    const [id = '', ...rest] = args;
    const numbers = new ReplyNumbers(await connection.run('settle', keys, [id, isAgain ? '1' : '0', ...rest]));
    numbers.next();
    const at = this.#readTime(numbers);
    for (const party of parties) {
      const seen = this.#see(party, settled.startedAt, numbers, at);
      tellReached(party.limited, seen, settled.used, reached);
    }
  }

  /** Offers what the ledger knows of the present periods. Rejects with a LinkError, or if the ledger cannot be read. */
  async offer(party: CountedParty): Promise<void> {
    const { connection, ledger, history } = this.#ports;
    const { scope, id, sinceMs } = party.limited;
    for (const { per, key, startMs, endMs } of party.at(connection.serverMs()).periods) {
      const own = this.#ports.account(party).spent(per);
      const isTotal = !Number.isFinite(startMs);
      const range = { startMs: isTotal ? startMs : Math.max(startMs, sinceMs), endMs };
      const { usd, tokens, unpriced } = largest(own.spent, await history.spent(scope, id, range));
      const args = [ledger, String(usd), integer(tokens), String(unpriced), endOf(endMs)];
      await connection.run('offer', [key], args);
    }
  }

  /** Offers it if Valkey has lost its data. Rejects as `offer`. */
  async offerIfLost(party: CountedParty): Promise<void> {
    const { connection } = this.#ports;
    const before = party.at(connection.serverMs()).periods.map(({ begunMs }) => begunMs);
    await this.ask('', [party], free, 'none');
    const after = party.at(connection.serverMs()).periods;
    if (after.some(({ begunMs }, index) => begunMs === 0 || begunMs !== before[index])) await this.offer(party);
  }

  /** Prolongs the leases of a party, and restores those that are gone. Rejects with a LinkError. */
  async renew(party: CountedParty, leases: Iterable<readonly [string, string]> = party.leases): Promise<void> {
    const all = [...leases];
    for (let first = 0; first < all.length; first += leasesAtOnce) {
      const args = [String(this.#ports.connection.leaseMs), ...all.slice(first, first + leasesAtOnce).flat()];
      await this.#ports.connection.run('renew', party.leaseKeys, args);
    }
  }

  #readTime(numbers: ReplyNumbers): SeenAt {
    return { serverMs: numbers.next(), steadyMs: this.#ports.clocks.steadyMs() };
  }

  #see(party: CountedParty, atMs: number, numbers: ReplyNumbers, at: SeenAt): SeenCounts {
    const account = this.#ports.account(party);
    const seen = new SeenCounts(numbers, at, { call: party.at(atMs), likely: account.reserved.likely });
    party.saw(seen, account);
    if (seen.isUnknown) this.offer(party).catch(() => {});
    return seen;
  }
}

function addCall(party: CountedParty, atMs: number, keys: string[], args: string[]): void {
  const call = party.at(atMs);
  keys.push(...call.keys);
  args.push(...call.args);
  for (const period of call.periods) args.push(...period.args, period.begunMs > 0 ? String(period.begunMs) : '');
}

function integer(amount: number): string {
  return String(Math.round(amount));
}
