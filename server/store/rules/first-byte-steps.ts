/** Quantiles of the times to the first byte, from samples of the requests of each step. */
import type { UsageDimension } from '../../contract/ledger.ts';
import type { FirstByteStep, FirstByteView } from '../../contract/request-views.ts';

/** Quantiles of a step are computed from its newest requests, so that the time of a query is bounded. */
export const samplesPerStep = 400;

/** The requests that are sampled. */
export const isSampled = 'first_byte_ms IS NOT NULL AND shadow_of IS NULL';

interface WeightedSample {
  valueMs: number;
  /** Empty: none. */
  name: string;
  /** The number of requests it represents. */
  weight: number;
}

export class FirstByteSteps {
  readonly #by: UsageDimension;
  readonly #names: readonly string[] | undefined;
  readonly #steps: FirstByteView['steps'] = [];
  readonly #named: FirstByteView['named'] = [];
  readonly #allSamples: WeightedSample[] = [];

  /** @param names the names to distinguish; all if absent */
  constructor(by: UsageDimension, names?: readonly string[]) {
    this.#by = by;
    this.#names = names;
  }

  /** Adds the next step in time. */
  add(startMs: number, samples: readonly WeightedSample[]): void {
    if (samples.length > 0) this.#steps.push(viewSamples(startMs, samples));
    const byName = this.#by === 'day' ? [] : [...Map.groupBy(samples, (sample) => sample.name)];
    for (const [name, namedSamples] of byName.sort(([one], [other]) => (one < other ? -1 : 1))) {
      if (this.#names?.includes(name) ?? true)
        this.#named.push({ name: name || null, ...viewSamples(startMs, namedSamples) });
    }
    this.#allSamples.push(...samples);
  }

  get view(): FirstByteView {
    const quantiles = this.#allSamples.length > 0 ? quantilesOf(this.#allSamples) : { medianMs: null, p95Ms: null };
    return { steps: this.#steps, named: this.#named, ...quantiles };
  }
}

function viewSamples(startMs: number, samples: readonly WeightedSample[]): FirstByteStep {
  return { startMs, samples: samples.length, ...quantilesOf(samples) };
}

function quantilesOf(samples: readonly WeightedSample[]): { medianMs: number; p95Ms: number } {
  const sorted = samples.toSorted((a, b) => a.valueMs - b.valueMs);
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0);
  const at = (share: number) => {
    let remainingWeight = share * total;
    for (const { valueMs, weight } of sorted) {
      remainingWeight -= weight;
      if (remainingWeight <= 1e-9) return valueMs;
    }
    return sorted.at(-1)?.valueMs ?? 0;
  };
  return { medianMs: at(0.5), p95Ms: at(0.95) };
}
