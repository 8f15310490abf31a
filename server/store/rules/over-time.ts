/** Questions about usage in steps of time, and what both databases make of the answers. */

import { calendarOf, wholeQuarters } from '../../contract/calendar.ts';
import type { UsageDimension } from '../../contract/ledger.ts';
import type { Within } from '../../contract/people.ts';
import type { FirstByteStep, FirstByteView, UsageView } from '../../contract/request-views.ts';
import { dayMs, quarterMs } from '../../contract/units.ts';
import { displayedCost, type Sums } from './sums.ts';

export interface UsageQuery {
  by: UsageDimension;
  /** Only these names; not by day. */
  names?: string[];
  /** Both are rounded outward to quarters of an hour. */
  sinceMs?: number;
  untilMs?: number;
  /** An IANA name; decides where days begin. Absent: UTC. */
  zone?: string;
  /** Only this part of the ledger; computed from individual requests. Absent: all of it. */
  within?: Within;
}

interface OverTimeQuery {
  sinceMs: number;
  /** Exclusive. */
  untilMs: number;
  /**
   * With multiples of 15 minutes the range is rounded outward to quarters of an hour, and the answer computed from stored totals.
   * Others are computed from individual requests, which is slower. `Infinity`: one step for all.
   */
  stepMs: number;
  /** An IANA name; decides where days begin. Absent: UTC. */
  zone?: string;
}

interface NamedUsageQuery {
  /** `day`: the total only. */
  by: UsageDimension;
  /** Only these names; the empty name stands for requests without one. */
  names?: string[];
}

export interface UsageOverTimeQuery extends OverTimeQuery, NamedUsageQuery {
  /**
   * Only this part of the ledger; computed from individual requests, because there are no stored totals for it. Absent:
   * all of it.
   */
  within?: Within;
}

export type FirstByteQuery = OverTimeQuery & Partial<NamedUsageQuery>;

// Summaries that are put together from steps: of days, and of a part of the ledger, such as what a person may see.

/** Days of it are integers of PostgreSQL. */
const endOfTimeMs = Number.MAX_SAFE_INTEGER;

/** The sums of a step. */
export type UsageStep = Sums & { startMs: number; name: string | null };

export const calendarFor = ({ zone = 'UTC' }: { zone?: string }) => calendarOf(zone);

/** Whether the stored sums know the answer; otherwise it is computed from requests. */
export const isOfSums = ({ stepMs, within }: { stepMs: number; within?: Within | undefined }) =>
  within === undefined && isOfQuarters(stepMs);

export const isOfQuarters = (stepMs: number) => stepMs === Number.POSITIVE_INFINITY || stepMs % quarterMs === 0;

/** The question with the range that is counted, the same for an administrator, whose answer is from sums, and for a person. */
export function counted<Question extends OverTimeQuery>(question: Question): Question {
  return isOfQuarters(question.stepMs) ? wholeQuarters(question) : question;
}

/** A step, and the part of it that was asked for. */
export interface AskedStep {
  startMs: number;
  sinceMs: number;
  /** Exclusive. */
  untilMs: number;
}

export function askedSteps(question: OverTimeQuery): AskedStep[] {
  return calendarFor(question)
    .stepsOf(question.stepMs, question)
    .map(({ startMs, endMs }) => ({
      startMs,
      sinceMs: Math.max(startMs, question.sinceMs),
      untilMs: Math.min(endMs, question.untilMs),
    }));
}

/** The question for a summary: one step for each day, or one for all. */
export function stepsOf({ by, names, ...question }: UsageQuery): UsageOverTimeQuery {
  const stepMs = by === 'day' ? dayMs : Number.POSITIVE_INFINITY;
  const isNamed = names !== undefined && by !== 'day';
  return { sinceMs: 0, untilMs: endOfTimeMs, ...question, by, stepMs, ...(isNamed && { names }) };
}

/** Days are in chronological order; everything else is sorted by cost and then by requests, highest first. */
export function summaryOf(steps: readonly UsageStep[], question: UsageQuery): UsageView[] {
  const calendar = calendarFor(question);
  const views = steps.map(({ startMs, name, ...sums }) => ({
    ...sums,
    name: question.by === 'day' ? calendar.dateOf(startMs) : name,
    costUsd: displayedCost(sums),
  }));
  return question.by === 'day' ? views : views.sort(byCost);
}

/** Highest first; equal ones by requests and name. */
export const byCost = (one: UsageView, other: UsageView) =>
  inOrderOf(other) - inOrderOf(one) || other.requests - one.requests || compareNames(one.name, other.name);

/** To a billionth of a dollar, and of large sums to 14 digits: the last ones depend on the order in which it was added up. */
const inOrderOf = ({ costUsd }: UsageView) => Number(Number((costUsd ?? 0).toFixed(9)).toPrecision(14));

export function compareNames(one: string | null, other: string | null): number {
  if (one === other) return 0;
  return (one ?? '') < (other ?? '') ? -1 : 1;
}

// Quantiles of the times to the first byte, from samples of the requests of each step.

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
