/** Parses limits (`requests=60,usd=5/day`) and formats them. */
import { InvalidArgumentError } from 'commander';
import { type Budget, type Limits, limitsSchema } from '../contract/config.ts';
import type { LimitMeter } from '../contract/limits.ts';
import { type Cell, moment, number } from './shown.ts';

export const limitHelp =
  'requests=60, tokens=100000/minute, concurrent=10, usd=5/day, tokens=1000000/month, usd=50/total:soft; or none';

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

const pattern = /^(requests|tokens|concurrent|usd)=(\d+(?:\.\d+)?)(?:\/(minute|day|week|month|total))?(:soft)?$/;

function withLimit(limits: Limits, item: string): Limits {
  const [, quantity, text = '', per, soft] = pattern.exec(item) ?? [];
  const amount = Number(text);
  const next =
    quantity === undefined ? null : nextLimits(limits, { quantity, amount, per, isHard: soft === undefined });
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
  const last = others.pop();
  return `Use ${[`${name}=${amount}${first}`, ...others].join(', ')}${last === undefined ? '' : ` or ${last}`}.`;
}

interface Typed {
  quantity: string;
  amount: number;
  per: string | undefined;
  isHard: boolean;
}

/** Null if the combination is not a limit. */
function nextLimits(limits: Limits, { quantity, amount, per, isHard }: Typed): object | null {
  if (per !== undefined && per !== 'minute') {
    if (quantity !== 'usd' && quantity !== 'tokens') return null;
    return { ...limits, budgets: [...limits.budgets, { unit: quantity, amount, per, hard: isHard }] };
  }
  if (!isHard) return null;
  if (quantity === 'concurrent') return per === undefined ? { ...limits, concurrent: amount } : null;
  if (quantity === 'requests') return { ...limits, requestsPerMinute: amount };
  return quantity === 'tokens' && per === 'minute' ? { ...limits, tokensPerMinute: amount } : null;
}

export const limitColumns = ['limit', number('used'), 'resets'];

/** Table cells: the limit, its usage, and when it resets. */
export function limitCells(meter: LimitMeter): Cell[] {
  const { kind, budget, amount, used, unpriced, resetsAt } = meter;
  const unknown = unpriced > 0 ? ` and ${unpriced} of unknown cost` : '';
  if (budget)
    return [describeBudget(budget), budget.unit === 'usd' ? dollars(used) + unknown : String(used), moment(resetsAt)];
  const unit = kind === 'concurrent' ? 'at the same time' : `${kind} per minute`;
  return [`${amount} ${unit}`, String(used), used === 0 || resetsAt === null ? '' : moment(resetsAt)];
}

function describeBudget({ unit, amount, per, hard }: Budget): string {
  const amountText = unit === 'usd' ? `$${amount}` : `${amount} tokens`;
  return `${amountText} ${per === 'total' ? 'in total' : `per ${per}`}${hard ? '' : ' (soft)'}`;
}

function dollars(amount: number): string {
  return `$${amount.toFixed(4)}`;
}
