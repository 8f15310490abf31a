/** Sums up the comparison of shadow requests with their originals, row by row. */
import type { RequestView } from '../../contract/request-views.ts';
import type { ShadowedRequest, ShadowSide, ShadowSummary } from '../../contract/shadow.ts';

export interface ShadowsQuestion {
  groupId?: string;
  /** Unix milliseconds. */
  sinceMs?: number;
}

/** Shadows that a summary reads at most: the newest. */
export const maxShadowsRead = 100_000;

export class ShadowSums {
  readonly #question: ShadowsQuestion;
  readonly #sumsByName = new Map<string, Sums>();

  constructor(question: ShadowsQuestion) {
    this.#question = question;
  }

  /** Ignores rows outside the question, and running requests. */
  add(row: RequestView): void {
    const { groupId, sinceMs = 0 } = this.#question;
    if (row.outcome === null || row.startedAt < sinceMs || (groupId !== undefined && row.groupId !== groupId)) return;
    const name = JSON.stringify([row.groupId, row.provider, row.modelServed]);
    const sums = this.#sumsByName.get(name) ?? new Sums(row);
    this.#sumsByName.set(name, sums);
    sums.add(row);
  }

  /** One for each group and model, most requests first. */
  get summaries(): ShadowSummary[] {
    return [...this.#sumsByName.values()].map((sums) => sums.view).sort((one, other) => other.requests - one.requests);
  }
}

const measures = ['costUsd', 'firstByteMs', 'totalMs', 'outputTokens'] as const;
type Values = Record<(typeof measures)[number], number | null>;

class Sums {
  readonly #row: RequestView;
  #requests = 0;
  #answeredCount = 0;
  #comparedCount = 0;
  #equal = 0;
  #costUsd = 0;
  readonly #pairs = new Map<(typeof measures)[number], { pairs: number; original: number; shadow: number }>();

  constructor(row: RequestView) {
    this.#row = row;
  }

  add({ outcome, costUsd, sameAnswer, shadowOf: of, ...row }: RequestView): void {
    this.#requests += 1;
    this.#costUsd += costUsd ?? 0;
    if (outcome !== 'ok' || of === null) return;
    this.#answeredCount += 1;
    if (sameAnswer !== null) this.#comparedCount += 1;
    if (sameAnswer) this.#equal += 1;
    const { firstByteMs, totalMs } = row;
    this.#addPair(of, { costUsd, firstByteMs, totalMs, outputTokens: row.usage?.outputTokens ?? null });
  }

  #addPair(original: ShadowedRequest, shadow: Values): void {
    for (const measure of measures) {
      const [originalValue, shadowValue] = [original[measure], shadow[measure]];
      if (originalValue === null || shadowValue === null) continue;
      const sum = this.#pairs.get(measure) ?? { pairs: 0, original: 0, shadow: 0 };
      this.#pairs.set(measure, {
        pairs: sum.pairs + 1,
        original: sum.original + originalValue,
        shadow: sum.shadow + shadowValue,
      });
    }
  }

  get view(): ShadowSummary {
    const { groupId, provider, modelServed, modelAsked } = this.#row;
    return {
      groupId: groupId ?? '',
      provider: provider ?? '',
      model: modelServed ?? modelAsked ?? '',
      requests: this.#requests,
      answered: this.#answeredCount,
      compared: this.#comparedCount,
      equal: this.#equal,
      costUsd: this.#costUsd,
      original: this.#meansOf('original'),
      shadow: this.#meansOf('shadow'),
    };
  }

  #meansOf(whose: 'original' | 'shadow'): ShadowSide {
    const mean = (measure: (typeof measures)[number]) => {
      const sum = this.#pairs.get(measure);
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
