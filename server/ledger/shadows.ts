/** Reads shadow requests: the one of a request, and what all of them tell of their targets. */
import { setImmediate } from 'node:timers/promises';
import type { RequestView } from '../contract/request-views.ts';
import type { ShadowedRequest, ShadowSide, ShadowSummary } from '../contract/shadow.ts';
import type { Database } from '../database/database.ts';
import { toLedgerRow } from './rows.ts';
import { seekSeq } from './seek.ts';

export interface ShadowsQuestion {
  groupId?: string;
  /** Unix milliseconds. */
  sinceMs?: number;
}

/** The latest one that repeats the request; null if there is none. */
export function shadowOf(database: Database, requestId: string): RequestView | null {
  const row = database
    .prepare("SELECT * FROM requests WHERE shadow_of ->> 'id' = ? AND shadow_of IS NOT NULL ORDER BY seq DESC LIMIT 1")
    .get(requestId);
  return row ? toLedgerRow(row) : null;
}

const rowsPerBatch = 1_000;
/** Rows that a summary reads at most: the newest. */
const mostRead = 100_000;

/** One for each group and model, most requests first. Those that run are left out. */
export async function summarizeShadows(database: Database, question: ShadowsQuestion): Promise<ShadowSummary[]> {
  const { groupId, sinceMs } = question;
  const low = sinceMs === undefined ? 0 : seekSeq(database, sinceMs);
  const read = database.prepare(
    `SELECT * FROM requests INDEXED BY requests_shadow_rows
     WHERE shadow_of IS NOT NULL AND seq >= ? AND seq < ? ORDER BY seq DESC LIMIT ${rowsPerBatch}`,
  );
  const found = new Map<string, Sums>();
  let before = Number.MAX_SAFE_INTEGER;
  for (let rowsRead = 0; rowsRead < mostRead; rowsRead += rowsPerBatch) {
    const rows = read.all(low, before).map(toLedgerRow);
    for (const row of rows) {
      before = row.seq;
      const isMeant = row.outcome !== null && (groupId === undefined || row.groupId === groupId);
      if (isMeant && row.startedAt >= (sinceMs ?? 0)) sumsOf(found, row).add(row);
    }
    if (rows.length < rowsPerBatch) break;
    await setImmediate();
  }
  return [...found.values()].map((sums) => sums.view).sort((one, other) => other.requests - one.requests);
}

function sumsOf(found: Map<string, Sums>, row: RequestView): Sums {
  const name = JSON.stringify([row.groupId, row.provider, row.modelServed]);
  const sums = found.get(name) ?? new Sums(row);
  found.set(name, sums);
  return sums;
}

const sides = ['costUsd', 'firstByteMs', 'totalMs', 'outputTokens'] as const;
type Values = Record<(typeof sides)[number], number | null>;

class Sums {
  readonly #row: RequestView;
  #requests = 0;
  #answered = 0;
  #compared = 0;
  #equal = 0;
  #costUsd = 0;
  readonly #pairs = new Map<(typeof sides)[number], { pairs: number; original: number; shadow: number }>();

  constructor(row: RequestView) {
    this.#row = row;
  }

  add({ outcome, costUsd, sameAnswer, shadowOf: of, ...row }: RequestView): void {
    this.#requests += 1;
    this.#costUsd += costUsd ?? 0;
    if (outcome !== 'ok' || of === null) return;
    this.#answered += 1;
    if (sameAnswer !== null) this.#compared += 1;
    if (sameAnswer) this.#equal += 1;
    const { firstByteMs, totalMs } = row;
    this.#addPair(of, { costUsd, firstByteMs, totalMs, outputTokens: row.usage?.outputTokens ?? null });
  }

  #addPair(original: ShadowedRequest, shadow: Values): void {
    for (const side of sides) {
      const [one, other] = [original[side], shadow[side]];
      if (one === null || other === null) continue;
      const sum = this.#pairs.get(side) ?? { pairs: 0, original: 0, shadow: 0 };
      this.#pairs.set(side, { pairs: sum.pairs + 1, original: sum.original + one, shadow: sum.shadow + other });
    }
  }

  get view(): ShadowSummary {
    const { groupId, provider, modelServed, modelAsked } = this.#row;
    return {
      groupId: groupId ?? '',
      provider: provider ?? '',
      model: modelServed ?? modelAsked ?? '',
      requests: this.#requests,
      answered: this.#answered,
      compared: this.#compared,
      equal: this.#equal,
      costUsd: this.#costUsd,
      original: this.#meansOf('original'),
      shadow: this.#meansOf('shadow'),
    };
  }

  #meansOf(whose: 'original' | 'shadow'): ShadowSide {
    const mean = (side: (typeof sides)[number]) => {
      const sum = this.#pairs.get(side);
      return sum ? sum[whose] / sum.pairs : null;
    };
    return {
      costUsd: mean('costUsd'),
      firstByteMs: mean('firstByteMs'),
      totalMs: mean('totalMs'),
      outputTokens: mean('outputTokens'),
    };
  }
}
