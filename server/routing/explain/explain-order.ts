/** Explains the order in which targets would be tried now. Without side effects. */

import type { RouteCandidate } from '../../contract/access-views.ts';
import type { Policy } from '../../contract/policy.ts';
import { coolingLast, type StrategyFacts, strategies } from '../health/health-picker.ts';
import type { HealthTracker } from '../health/health-tracker.ts';
import { judgeCredentialAt, judgeTarget, viewCooldown } from '../health/judge.ts';
import { anyNameLast } from '../picker.ts';
import type { Target } from '../snapshot.ts';

interface OrderQuestion {
  health: HealthTracker;
  /** The price of a typical request in US dollars; null: unknown. */
  typicalPrice(target: Target): number | null;
  strategy: Policy['strategy'];
  /** Unix milliseconds. */
  wallMs: number;
}

export type ExplainedTarget = { target: Target } & Pick<
  RouteCandidate,
  'health' | 'firstByteMs' | 'priceUsd' | 'credentials' | 'place'
>;

export function explainOrder(targets: readonly Target[], question: OrderQuestion): ExplainedTarget[] {
  const { health, strategy, wallMs, typicalPrice } = question;
  const clocks = { bookMs: health.nowMs(), wallMs };
  const firstByteMs = (target: Target) => health.firstByteMs(target);
  const facts: StrategyFacts = { random: () => 0.5, conversation: () => null, firstByteMs, typicalPrice };
  const ordered = coolingLast(anyNameLast(strategies[strategy](targets, facts)), health, clocks.bookMs);
  return ordered.map((target) => {
    const { provider, model } = target;
    const credentials = provider.credentials.map(({ id }) => ({
      id,
      ...viewCooldown(judgeCredentialAt(health.provider(provider.id), model, id), clocks),
    }));
    const measured = firstByteMs(target);
    const explained = {
      target,
      health: viewCooldown(judgeTarget(health, provider, model), clocks),
      firstByteMs: measured === null ? null : Math.round(measured),
      priceUsd: typicalPrice(target),
      credentials: credentials.filter(({ state }) => state !== 'ok'),
    };
    const isHeldBack = health.heldBackForMs(target, null) > 0;
    return { ...explained, place: describePlace(strategy, { ...explained, isHeldBack }, clocks.wallMs) };
  });
}

type Facts = Omit<ExplainedTarget, 'target' | 'place'> & {
  /** It has told when to come again, and is not asked before. */
  isHeldBack: boolean;
};

/** Null: only priority and weight decide. */
function describePlace(strategy: Policy['strategy'], facts: Facts, wallMs: number): string | null {
  const { health, firstByteMs, priceUsd, isHeldBack } = facts;
  if (health && health.state !== 'ok') return describeCooldown(health, wallMs, isHeldBack);
  if (strategy === 'lowest-latency')
    return firstByteMs === null ? 'not measured yet' : `first byte after ${firstByteMs} ms recently`;
  if (strategy === 'lowest-price')
    return priceUsd === null ? 'it has no price' : `about $${priceUsd.toPrecision(2)} for a typical request`;
  return null;
}

function describeCooldown(
  { state, until, reason }: NonNullable<Facts['health']>,
  wallMs: number,
  isHeldBack: boolean,
): string {
  if (state === 'refused') return `not asked: ${reason}`;
  if (until === null || until <= wallMs) return `tried by the next request: ${reason}`;
  const exception = isHeldBack ? 'even if' : 'unless';
  return `not asked for ${Math.ceil((until - wallMs) / 1_000)} s, ${exception} nothing else is left: ${reason}`;
}
