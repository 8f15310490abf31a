/** Who is asked for a path that Sluice does not serve itself: the owner of what it names, else the group's provider for such. */
import { GatewayError } from '../contract/errors.ts';
import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { isPathSegment } from '../providers/path-segment.ts';
import { mayUseAnyModel } from '../routing/resolve.ts';
import type { CompiledGroup, CompiledKey, CompiledProvider, Snapshot } from '../routing/snapshot.ts';
import type { Passed } from '../wire/registry.ts';
import type { Route } from '../wire/route.ts';
import { hardBudgetOf } from './hold-to-limits.ts';
import { type CallPlan, ownedBy, ownerOf } from './plan.ts';

interface PassedInput {
  route: Route;
  passed: Passed;
  /** What the body names. */
  namedIds: readonly string[];
  group: CompiledGroup;
  key: CompiledKey;
  snapshot: Snapshot;
  jobs: JobStore;
}

/**
 * The provider that may be asked, as far as that can be told before the body is read, so that what is refused need not be
 * sent. Throws a GatewayError where nobody may be.
 */
export function checkPassthrough({
  passed,
  group,
  key,
  route,
}: Omit<PassedInput, 'namedIds' | 'snapshot' | 'jobs'>): CompiledProvider {
  const provider = providerOf(group, passed.unserved);
  if (!passed.names.every(isPathSegment)) throw new GatewayError('unknown_url', passed.unserved.message);
  if (!route.isFree) checkMoney(group, key);
  return provider;
}

/** Throws a GatewayError where nobody may be asked. */
export function planPassthrough(input: PassedInput): CallPlan {
  const { passed, group, snapshot, jobs } = input;
  const provider = checkPassthrough(input);
  const owner = findOwner([...passed.names, ...input.namedIds], group, jobs);
  if (owner) return { ...ownedBy(owner), model: null, targets: [ownerOf(snapshot, owner, null)] };
  if (provider.unusable) {
    const message = `Provider "${provider.id}" cannot be asked now: ${provider.unusable}.`;
    throw new GatewayError('no_healthy_provider', message);
  }
  // Of several accounts always the same, so that lists show what was made before.
  const credentialId = provider.credentials[0]?.id ?? null;
  return { model: null, targets: [{ provider, model: null, priority: 0, weight: 1 }], credentialId };
}

function providerOf({ id, passthrough }: CompiledGroup, { code, message }: Passed['unserved']): CompiledProvider {
  if (passthrough.provider) return passthrough.provider;
  throw new GatewayError(
    code,
    `${message} Sluice does not serve this itself, and hands it to no provider: ${passthrough.why}. ` +
      `Set it to the id of a provider (window, "Groups"; or \`sluice group put ${id} --passthrough PROVIDER\`).`,
  );
}

/** The first that is known decides: whoever keeps it can do something with the others too. Throws where one is another group's. */
function findOwner(names: readonly string[], group: CompiledGroup, jobs: JobStore): Job | null {
  let owner: Job | null = null;
  for (const name of names) {
    const found = jobs.findAny(name, group.id);
    if (found === 'foreign') {
      throw new GatewayError('job_not_found', `No such object: '${name.slice(0, 200)}'.`, { param: 'id' });
    }
    owner ??= found ?? null;
  }
  return owner;
}

/** What is made there uses models that nobody here reads the names of, at a price that nobody here learns. */
function checkMoney(group: CompiledGroup, key: CompiledKey): void {
  if (!mayUseAnyModel(group, key)) {
    const limited = group.allowsAllModels ? `key "${key.name}"` : `group "${group.id}"`;
    throw new GatewayError(
      'passthrough_refused',
      `The models of ${limited} are limited, and what this request sets to work cannot be held to them. Use a key that may use every model.`,
    );
  }
  const limited = hardBudgetOf({ key, group });
  if (!limited || group.unpriced === 'allow') return;
  throw new GatewayError(
    'price_unknown',
    `What this request costs is not known, so the budget of ${limited.scope} "${limited.name}" cannot hold it. To allow it, set "unpriced" of group "${group.id}" to "allow".`,
  );
}
