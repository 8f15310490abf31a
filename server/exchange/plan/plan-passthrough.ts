/** Plans a passthrough request: the owner of an object that it names, otherwise the group's passthrough provider. */

import type { Route } from '../../apis/core/route.ts';
import type { PassthroughMatch } from '../../apis/registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Policy } from '../../contract/policy.ts';
import { mayUseAnyModel } from '../../routing/resolve.ts';
import type { CompiledGroup, CompiledKey, CompiledProvider, Snapshot } from '../../routing/snapshot.ts';
import type { KnownJobs } from '../../store/ports/job-store.ts';
import type { Job } from '../../store/rules/job.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import { hardBudgetOf } from './enforce-limits.ts';
import { noSuchObject } from './foreign-objects.ts';
import { type CallPlan, ownedBy, ownerOf } from './plan.ts';

type NamedObjects = Pick<PassthroughMatch, 'names' | 'unserved'>;

interface CheckedRequest {
  route: Route;
  passthroughMatch: NamedObjects;
  group: CompiledGroup;
  key: CompiledKey;
}

interface PassthroughInput {
  route: Route;
  passthroughMatch: NamedObjects;
  /** Ids named in the body. */
  referencedIds: readonly string[];
  group: CompiledGroup;
  snapshot: Snapshot;
  jobs: KnownJobs;
}

/**
 * Checks what can be checked before the body is read, so that a refused request need not send one. Throws GatewayError if no
 * provider may be asked.
 */
export function checkPassthrough({ passthroughMatch, group, key, route }: CheckedRequest): void {
  providerOf(group, passthroughMatch.unserved, route);
  if (!route.isFree) checkMoney(group, key);
}

/** To be called after `checkPassthrough`. Throws GatewayError if no provider may be asked. */
export function planPassthrough(input: PassthroughInput): CallPlan {
  const { passthroughMatch, group, snapshot, jobs } = input;
  const provider = providerOf(group, passthroughMatch.unserved, input.route);
  const owner = findOwner([...passthroughMatch.names, ...input.referencedIds], group, jobs);
  if (!owner && input.route.method === 'DELETE') checkDeletion(group, snapshot);
  if (owner) return { ...ownedBy(owner), model: null, targets: [ownerOf(snapshot, owner, null)] };
  if (provider.unusable) {
    const message = `Provider "${provider.id}" cannot be asked now: ${provider.unusable}.`;
    throw new GatewayError('no_healthy_provider', message);
  }
  // Always the same account, so that lists show what was created before.
  const credentialId = provider.credentials[0]?.id ?? null;
  return { model: null, targets: [{ provider, model: null, priority: 0, weight: 1 }], credentialId };
}

/** Passthrough requests may have side effects, and their body can be read only once: only GET and HEAD are retried. */
export function policyOf({ group, match, body }: OutgoingCall): Policy {
  const isSingleUse = match.passthrough !== null && (!match.route.content || body.isSingleUse === true);
  return isSingleUse ? { ...group.policy, retries: 0, fallbacks: 0 } : group.policy;
}

function providerOf(
  { id, passthrough }: CompiledGroup,
  { code, message }: PassthroughMatch['unserved'],
  { wire }: Route,
): CompiledProvider {
  const { provider } = passthrough;
  if (provider?.dialect.serves(wire.name)) return provider;
  const reason = provider
    ? `provider "${provider.id}", to which "passthrough" of the group is set, speaks another API`
    : passthrough.why;
  throw new GatewayError(
    code,
    `${message} Sluice does not serve this itself and does not forward it to a provider: ${reason}. ` +
      `Set it to the id of a provider (window, "Groups"; or \`sluice group put ${id} --passthrough PROVIDER\`).`,
  );
}

/**
 * The first known id decides, since its owner is the only provider that can know the others as well. Throws if one
 * belongs to another group.
 */
function findOwner(names: readonly string[], group: CompiledGroup, jobs: KnownJobs): Job | null {
  let owner: Job | null = null;
  for (const name of names) {
    const job = jobs.findAny(name, group.id);
    if (job === 'foreign') throw noSuchObject(name);
    owner ??= job ?? null;
  }
  return owner;
}

/** Throws GatewayError unless the group may delete what may be anybody's: something made elsewhere with the same account. */
function checkDeletion({ id, deleteUnknown }: CompiledGroup, { hasOneGroup }: Snapshot): void {
  if (deleteUnknown === 'allow' || (deleteUnknown === 'alone' && hasOneGroup)) return;
  throw new GatewayError(
    'passthrough_refused',
    `Sluice does not know whose this is, so group "${id}" may not delete it. To allow it, set "deleteUnknown" of the group to "allow" ` +
      `(window, "Groups"; or \`sluice group put ${id} --delete-unknown allow\`).`,
  );
}

/**
 * Throws GatewayError if the key is restricted to certain models or has a hard dollar budget, unless the group permits
 * unpriced requests: passthrough requests use models and cost money that Sluice does not see.
 */
function checkMoney(group: CompiledGroup, key: CompiledKey): void {
  if (!mayUseAnyModel(group, key)) {
    const owner = group.allowsAllModels ? `key "${key.name}"` : `group "${group.id}"`;
    throw new GatewayError(
      'passthrough_refused',
      `The models of ${owner} are limited, and what this request sets to work cannot be held to them. Use a key that may use every model.`,
    );
  }
  const limited = hardBudgetOf({ key, group });
  if (!limited || group.unpriced === 'allow') return;
  throw new GatewayError(
    'price_unknown',
    `What this request costs is not known, so the budget of ${limited.scope} "${limited.name}" cannot hold it. To allow it, set "unpriced" of group "${group.id}" to "allow".`,
  );
}
