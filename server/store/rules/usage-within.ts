/** Summaries that are put together from steps: of days, and of a part of the ledger, such as what a person may see. */

import { calendarOf, wholeQuarters } from '../../contract/calendar.ts';
import type { Within } from '../../contract/people.ts';
import type { UsageView } from '../../contract/request-views.ts';
import { dayMs, quarterMs } from '../../contract/units.ts';
import { displayedCost, type Sums } from './sums.ts';
import type { OverTimeQuery, UsageOverTimeQuery, UsageQuery } from './usage-query.ts';

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
