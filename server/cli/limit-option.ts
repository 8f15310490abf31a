/** Parses limits (`requests=60,usd=5/day`) and formats them. */

import { InvalidArgumentError } from 'commander';
import { type Budget, type Limits, limitsSchema } from '../contract/limit-settings.ts';
import type { LimitMeter, Pace } from '../contract/limits.ts';
import { andUnknown, money } from './money.ts';
import { type Cell, localTime, moment, number } from './shown.ts';

export const limitHelp =
  'requests=60, tokens=100000/minute, concurrent=10, usd=5/day, tokens=1000000/month, usd=50/total:soft, usd=20/week:notify=50+90; or none';

/** The value of an option for limits; `none` removes all limits. */
export type LimitsChoice = Limits | 'none';

/** Parser for a repeatable option. */
export function collectLimits(text: string, before: LimitsChoice = 'none'): LimitsChoice {
  return text
    .split(',')
    .map((item) => item.trim())
    .reduce((limits: LimitsChoice, item) => {
      return item === 'none' ? 'none' : withLimit(limits === 'none' ? { budgets: [] } : limits, item);
    }, before);
}

const pattern =
  /^(requests|tokens|concurrent|usd)=(\d+(?:\.\d+)?)(?:\/(minute|day|week|month|total))?(:soft)?(?::notify=(\d+(?:\+\d+)*))?$/;

function withLimit(limits: Limits, item: string): Limits {
  const [, quantity, text = '', per, soft, notify] = pattern.exec(item) ?? [];
  const amount = Number(text);
  const notifyAt = notify?.split('+').map(Number);
  const next =
    quantity === undefined ? null : nextLimits(limits, { quantity, amount, per, isHard: soft === undefined, notifyAt });
  const parsed = limitsSchema.safeParse(next);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(adviceFor(item));
}

/** The periods that each kind of limit takes; an empty one is optional. */
const periodsOf: Record<string, readonly string[]> = {
  usd: ['/day', '/week', '/month', '/total'],
  tokens: ['/minute', '/day', '/week', '/month', '/total'],
  requests: ['/minute'],
  concurrent: [''],
};

/** What comes nearest to a limit that cannot be used. */
function adviceFor(item: string): string {
  const [, name = '', amount = '0'] = /^(\w+)=(\d+(?:\.\d+)?)/.exec(item) ?? [];
  const [first, ...others] = periodsOf[name] ?? [];
  if (first === undefined || Number(amount) === 0) return `Use limits such as ${limitHelp}.`;
  if (item.includes(':notify')) return 'Give percentages of a budget from 1 to 100, such as usd=20/week:notify=50+90.';
  const last = others.pop();
  return `Use ${[`${name}=${amount}${first}`, ...others].join(', ')}${last === undefined ? '' : ` or ${last}`}.`;
}

interface Typed {
  quantity: string;
  amount: number;
  per: string | undefined;
  isHard: boolean;
  notifyAt: number[] | undefined;
}

/** Null if the combination is not a limit. */
function nextLimits(limits: Limits, { quantity, amount, per, isHard, notifyAt }: Typed): object | null {
  if (per !== undefined && per !== 'minute') {
    if (quantity !== 'usd' && quantity !== 'tokens') return null;
    const budget = { unit: quantity, amount, per, hard: isHard, ...(notifyAt && { notifyAt }) };
    return { ...limits, budgets: [...limits.budgets, budget] };
  }
  if (!isHard || notifyAt) return null;
  if (quantity === 'concurrent') return per === undefined ? { ...limits, concurrent: amount } : null;
  if (quantity === 'requests') return { ...limits, requestsPerMinute: amount };
  return quantity === 'tokens' && per === 'minute' ? { ...limits, tokensPerMinute: amount } : null;
}

export const limitColumns = ['limit', number('used'), 'resets', 'at this pace'];

/** Table cells: the limit, its usage, when it resets, and how it goes on. */
export function limitCells(meter: LimitMeter): Cell[] {
  const { kind, budget, amount, used, unpriced, resetsAt, pace } = meter;
  if (budget)
    return [
      describeBudget(budget),
      budget.unit === 'usd' ? dollars(used) + andUnknown(unpriced) : String(used),
      moment(resetsAt),
      pace === null ? '' : describePace(budget, pace),
    ];
  const unit = kind === 'concurrent' ? 'at the same time' : `${kind} per minute`;
  return [`${amount} ${unit}`, String(used), used === 0 || resetsAt === null ? '' : moment(resetsAt), ''];
}

function describePace({ unit }: Budget, { expected, spentAt }: Pace): string {
  if (spentAt !== null) return `spent by ${localTime(spentAt)}`;
  return unit === 'usd' ? dollars(expected) : `${Math.round(expected)} tokens`;
}

function describeBudget({ unit, amount, per, hard }: Budget): string {
  const amountText = unit === 'usd' ? `$${amount}` : `${amount} tokens`;
  return `${amountText} ${per === 'total' ? 'in total' : `per ${per}`}${hard ? '' : ' (soft)'}`;
}

function dollars(amount: number): string {
  return money(amount, 4);
}
