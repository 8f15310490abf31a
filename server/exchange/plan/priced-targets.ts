import { GatewayError } from '../../contract/errors.ts';
import type { PriceTable } from '../../models/price-table.ts';
import { costOf, hasHardDollarBudget, isPaid, type LimitedCall, worstUsageAt } from './enforce-limits.ts';
import type { CallPlan } from './plan.ts';

/**
 * The plan without targets of unknown price, if a hard dollar budget applies and the group does not permit them: their
 * cost would not count. Throws a GatewayError if no target is left.
 */
export function pricedTargets(prices: PriceTable, call: Omit<LimitedCall, 'requestId'>): CallPlan {
  const { group, route, body, plan } = call;
  if (group.unpriced === 'allow' || !isPaid(route) || !hasHardDollarBudget(call)) return plan;
  const targets = plan.targets.filter(
    (target) => costOf(prices, target, plan, worstUsageAt(prices, target, { route, body, plan })) !== null,
  );
  if (targets.length === plan.targets.length) return plan;
  if (targets.length === 0) throw unknownPrice(call);
  return { ...plan, targets };
}

/** A server of one's own costs nothing, which Sluice can know only of some. */
function localHint(providerId: string | undefined): string {
  return providerId === undefined
    ? ''
    : `mark a server of your own as free ("sluice provider put ${providerId} --free on"), `;
}

function unknownPrice({ key, group, plan }: Omit<LimitedCall, 'requestId'>): GatewayError {
  const [target] = plan.targets;
  const name = target?.model ?? plan.model;
  const owner = key.limited?.limits.budgets.some(({ unit, hard }) => hard && unit === 'usd')
    ? `key "${key.name}"`
    : `group "${group.limited?.name ?? group.id}"`;
  const subject =
    name === null
      ? 'a request that names no model'
      : `model "${name.slice(0, 200)}"${target ? ` of provider "${target.provider.id}"` : ''}`;
  const entry = `${target?.provider.id ?? 'provider'}/${name?.slice(0, 200) ?? 'model'}`;
  return new GatewayError(
    'price_unknown',
    `The price of ${subject} is not known, so the budget of ${owner} cannot hold it. Set it in settings.prices, such as ` +
      `{"${entry}": {"input": 1, "output": 2}} in US dollars for 1,000,000 tokens ({"request": 0}: free of charge), ${localHint(target?.provider.id)}` +
      `or set "unpriced" of group "${group.id}" to "allow".`,
    { param: 'model' },
  );
}
