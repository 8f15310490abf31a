/** Plans a request by its route: one that Sluice serves itself, or one that is passed through. */
import type { RouteMatch } from '../../apis/registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import { nameOf } from '../../limits/refusal.ts';
import type { PriceTable } from '../../models/price-table.ts';
import type { Member, Snapshot } from '../../routing/snapshot.ts';
import type { KnownJobs } from '../../store/ports/job-store.ts';
import type { Job } from '../../store/rules/job.ts';
import { containsSecret } from '../redact/find-secrets.ts';
import type { RequestBody, RequestFields } from '../request/request-body.ts';
import {
  costOf,
  hasHardBudget,
  hasHardDollarBudget,
  isPaid,
  type LimitedCall,
  subjectsOf,
  worstUsageAt,
} from './enforce-limits.ts';
import { continuedThread, owningIds, referencedConversation } from './named-objects.ts';
import { type CallPlan, planCall } from './plan.ts';
import { planPassthrough } from './plan-passthrough.ts';

interface RouteInput {
  match: RouteMatch;
  member: Member;
  body: RequestBody;
  snapshot: Snapshot;
  /** Those that the request names. */
  jobs: KnownJobs;
  /** A stored object that the body or the query names. */
  holder: Job | null;
}

/** The fields of the body, with the model of the path if that names one. */
export function fieldsOf(match: RouteMatch, body: RequestBody): RequestFields {
  return match.model === null ? body.fields : { ...body.fields, model: match.model };
}

/** Throws a GatewayError if no provider may be asked. */
export function planRoute({ match, member, body, snapshot, jobs, holder }: RouteInput): CallPlan {
  const { group, key } = member;
  const { passthrough, route } = match;
  if (passthrough)
    return planPassthrough({
      route,
      passthroughMatch: passthrough,
      referencedIds: owningIds(body),
      group,
      snapshot,
      jobs,
    });
  const conversationId = referencedConversation(match, body);
  const threadId = continuedThread(match, body);
  return planCall({
    match,
    conversationId,
    threadId,
    fields: fieldsOf(match, body),
    group,
    key,
    snapshot,
    jobs,
    holder,
  });
}

/**
 * Catches swapped client settings: a key written where the name of a model, an object or a path belongs would go to a provider, and
 * into its logs. The messages do not repeat it.
 */
const meantBy: Readonly<Record<string, string>> = { model: 'the name of a model' };

/** @throws GatewayError `invalid_value` if the field contains a key */
export function checkName(field: string, name: string, secrets: readonly string[]): void {
  if (!containsSecret(name, secrets)) return;
  const meant = meantBy[field] ?? 'an id';
  throw new GatewayError('invalid_value', `The field '${field}' contains an API key. Set it to ${meant}.`, {
    param: field,
  });
}

/** @throws GatewayError `invalid_value` if the path contains a key. Parameters of the query that do are left out. */
export function checkPath(path: string, secrets: readonly string[]): void {
  if (!containsSecret(path, secrets)) return;
  throw new GatewayError(
    'invalid_value',
    'The path of the URL contains an API key, so that this request was not forwarded. Write the id that belongs there, and send the key only in a header.',
  );
}

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
  const limited = subjectsOf({ key, group }).find((subject) => hasHardBudget(subject, 'usd'));
  const owner = limited ? nameOf(limited) : `group "${group.id}"`;
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
