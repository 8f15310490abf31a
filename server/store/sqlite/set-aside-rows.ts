/**
 * Rows that the database refuses although they are storable: a defect of Sluice, or a rule that someone has added to
 * the database. Each is kept in a file, one line of JSON, for a person to look at. If the database has not even taken
 * its amounts, these count from here in the budgets of its key and group, also after a restart.
 */
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isUnpriced } from '../../contract/count.ts';
import { shadowAccount } from '../../contract/ledger.ts';
import type { CountedScope } from '../../contract/limits.ts';
import type { SetAsideView } from '../../contract/status-views.ts';
import { systemErrorCode } from '../../ground/files/regular-file.ts';
import { messageOf } from '../rules/failures.ts';
import type { BegunRow, EndedRow } from '../rules/rows.ts';
import type { Spent, SpentQuery } from './usage-history.ts';

interface Options {
  /** null to keep rows in memory only. */
  file: string | null;
  log: { warn(fields: object, message: string): void };
  /** Limit for the file. Default 64 MiB. */
  maxBytes?: number;
}

interface SetAside {
  row: BegunRow | EndedRow;
  error: string;
  /** The ledger has the amounts of the row, without its texts. */
  isCounted: boolean;
}

/** A removed key or group, whose earlier rows do not count for a later one with its id. */
interface Forgotten {
  forgotten: { scope: CountedScope; id: string };
}

export const setAsideName = 'set-aside-requests.jsonl';
const defaultMaxBytes = 64 * 1024 * 1024;
const uncounted: SpentRow = { startedAt: 0, key: null, group: null, spent: { usd: 0, tokens: 0, unpriced: 0 } };

export class SetAsideRows {
  readonly #options: Options;
  /** By request id. */
  readonly #rows = new Map<string, { spent: SpentRow; hasEnded: boolean }>();
  #bytes = 0;
  /** A process that was killed may have left half a line. */
  #startsOnNewLine = true;

  /** Reads the rows that earlier runs have set aside. */
  constructor(options: Options) {
    this.#options = options;
    for (const line of this.#readLines()) this.#read(line);
  }

  get view(): SetAsideView | undefined {
    return this.#rows.size === 0 ? undefined : { rows: this.#rows.size, file: this.#options.file };
  }

  /** Whether the end of the request, or the beginning if `row` is one, has been set aside. */
  has(row: BegunRow | EndedRow): boolean {
    const known = this.#rows.get(row.id);
    return known !== undefined && (known.hasEnded || !hasEnded(row));
  }

  /** Those of the requests whose amounts `spent` includes. */
  counted(ids: readonly string[]): string[] {
    return ids.filter((id) => this.#rows.get(id)?.spent !== uncounted && this.#rows.has(id));
  }

  /** Synchronous, since it happens once in the life of most ledgers, if ever. Never throws. */
  add(setAside: SetAside): void {
    const { row, error, isCounted } = setAside;
    if (this.has(row)) return;
    const { file, log } = this.#options;
    const counts = hasEnded(row) && !isCounted;
    this.#rows.set(row.id, { spent: counts ? spentByEnded(row) : uncounted, hasEnded: hasEnded(row) });
    log.warn({ request: row.id, error, file, isCounted }, 'the ledger refuses a request, which is set aside');
    this.#append(setAside);
  }

  /** The usage of the rows whose amounts the ledger does not have. */
  spent(question: SpentQuery): Spent {
    const rows = Array.from(this.#rows.values(), ({ spent }) => spent);
    return spentIn(rows, question);
  }

  forget(scope: CountedScope, id: string): void {
    if (this.#forget(scope, id)) this.#append({ forgotten: { scope, id } });
  }

  #forget(scope: CountedScope, id: string): boolean {
    const owned = [...this.#rows.values()].filter(({ spent }) => spent[scope] === id);
    for (const each of owned) each.spent = { ...each.spent, [scope]: null };
    return owned.length > 0;
  }

  #append(entry: SetAside | Forgotten): void {
    const { file, log, maxBytes = defaultMaxBytes } = this.#options;
    if (file === null) return;
    const line = `${this.#startsOnNewLine ? '' : '\n'}${JSON.stringify(entry)}\n`;
    try {
      if (this.#bytes + line.length > maxBytes) throw new Error('its share of the disk is used');
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      appendFileSync(file, line, { mode: 0o600, flush: true });
      this.#bytes += line.length;
      this.#startsOnNewLine = true;
    } catch (error) {
      log.warn({ error: messageOf(error), file }, 'a request that the ledger refuses is kept in memory only');
    }
  }

  #readLines(): string[] {
    const { file, log } = this.#options;
    if (file === null) return [];
    try {
      const content = readFileSync(file, 'utf8');
      this.#bytes = content.length;
      this.#startsOnNewLine = content === '' || content.endsWith('\n');
      return content.split('\n').filter((line) => line !== '');
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOENT')
        log.warn({ error: messageOf(error), file }, 'the requests that were set aside cannot be read');
      return [];
    }
  }

  #read(line: string): void {
    try {
      const entry = JSON.parse(line) as SetAside | Forgotten;
      if ('forgotten' in entry) {
        this.#forget(entry.forgotten.scope, entry.forgotten.id);
        return;
      }
      const { row, isCounted } = entry;
      const spent = hasEnded(row) ? spentByEnded(row) : spentByReserved(row);
      this.#rows.set(row.id, { spent: isCounted ? uncounted : spent, hasEnded: hasEnded(row) });
    } catch (error) {
      this.#options.log.warn(
        { error: messageOf(error), file: this.#options.file },
        'a request that was set aside cannot be read',
      );
    }
  }
}

const hasEnded = (row: BegunRow | EndedRow): row is EndedRow => 'outcome' in row;

interface SpentRow extends Record<CountedScope, string | null> {
  startedAt: number;
  spent: Spent;
}

/** What single rows add to the usage of their key and group. */
export function spentByEnded(row: EndedRow): SpentRow {
  return spentBy(row, row, isUnpriced(row));
}

/** For a request that an earlier run left running. */
function spentByReserved(row: BegunRow): SpentRow {
  const { usage, costUsd } = row.reserved ?? { usage: null, costUsd: 0 };
  return spentBy(row, { usage, costUsd }, costUsd === null);
}

function spentBy(row: BegunRow, { usage, costUsd }: Pick<EndedRow, 'usage' | 'costUsd'>, isUnknown: boolean): SpentRow {
  const account = row.shadowOf === null ? null : shadowAccount(row.groupId);
  const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
  return {
    startedAt: row.startedAt,
    key: account ?? row.keyId,
    group: account ?? row.groupId,
    spent: { usd: costUsd ?? 0, tokens, unpriced: Number(isUnknown) },
  };
}

/** The usage of those of the rows that began in the range. */
export function spentIn(rows: Iterable<SpentRow>, { scope, id, range: { startMs, endMs } }: SpentQuery): Spent {
  const sum = { usd: 0, tokens: 0, unpriced: 0 };
  for (const { [scope]: owner, startedAt, spent } of rows) {
    if (owner !== id || startedAt < startMs || startedAt >= endMs) continue;
    sum.usd += spent.usd;
    sum.tokens += spent.tokens;
    sum.unpriced += spent.unpriced;
  }
  return sum;
}
