/** Plans a request by its route: one that Sluice serves itself, or one that is passed through. */

import type { Route } from '../../apis/core/api.ts';
import { referredIn } from '../../apis/core/referred-input.ts';
import { conversationIn } from '../../apis/core/requests/client-session.ts';
import { idsInJson, idsInParameters, objectMembers } from '../../apis/core/requests/object-members.ts';
import type { PassthroughMatch, RouteMatch } from '../../apis/registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Policy } from '../../contract/policy.ts';
import { type MaybePromise, yieldToEventLoop } from '../../ground/promises.ts';
import { nameOf } from '../../limits/refusal.ts';
import type { PriceTable } from '../../models/price-table.ts';
import { mayUseAnyModel } from '../../routing/resolve.ts';
import type { CompiledGroup, CompiledKey, CompiledProvider, Member, Snapshot } from '../../routing/snapshot.ts';
import { type Job, type JobStore, type KnownJobs, noJobs } from '../../store/ports/kept-stores.ts';
import { containsSecret } from '../redact/find-secrets.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { RequestBody, RequestFields } from '../request/request-body.ts';
import {
  type CallPlan,
  costOf,
  hardBudgetOf,
  hasHardBudget,
  hasHardDollarBudget,
  isPaid,
  type LimitedCall,
  ownedBy,
  ownerOf,
  planCall,
  type SizeAt,
  subjectsOf,
  worstUsageAt,
} from './plan.ts';

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

// Plans a passthrough request: the owner of an object that it names, otherwise the group's passthrough provider.

type PassedNames = Pick<PassthroughMatch, 'names' | 'unserved'>;

interface CheckedRequest {
  route: Route;
  passthroughMatch: PassedNames;
  group: CompiledGroup;
  key: CompiledKey;
}

interface PassthroughInput {
  route: Route;
  passthroughMatch: PassedNames;
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

// The stored objects that a request names: whose they are, what input they add under a hard budget, and that none is
// another group's.

export interface NamedObjects {
  jobs: KnownJobs;
  sizeAt: SizeAt;
  /** The first of its files, caches and the like that the group made through Sluice; only this account has it. */
  holder: Job | null;
}

interface NamingRequest {
  match: RouteMatch;
  member: Member;
  body: RequestBody;
  /** Begins with `?`, or is empty. */
  query: string;
}

const unknownSize: SizeAt = () => null;

/** For requests that name nothing. */
const nothingNamed: NamedObjects = { jobs: noJobs, sizeAt: unknownSize, holder: null };

/** Fails like `JobStore.lookUp`, but not because of sizes, and with a GatewayError if an object is another group's. */
export function findNamedObjects(store: JobStore, request: NamingRequest): MaybePromise<NamedObjects> {
  const ids = referencedObjects(request.match, request.body);
  const holder = findHolder(store, request, ids);
  return holder instanceof Promise
    ? holder.then((found) => lookUpNamed(store, request, ids, found))
    : lookUpNamed(store, request, ids, holder);
}

function lookUpNamed(
  store: JobStore,
  request: NamingRequest,
  ids: readonly string[],
  holder: Job | null,
): MaybePromise<NamedObjects> {
  const jobs = ids.length === 0 ? noJobs : store.lookUp(ids, request.member.group.id);
  const sizeAt = findSizes(store, request);
  if (jobs === noJobs && sizeAt === unknownSize && holder === null) return nothingNamed;
  if (!(jobs instanceof Promise || sizeAt instanceof Promise)) return { jobs, sizeAt, holder };
  return Promise.all([jobs, sizeAt]).then(([known, size]) => ({ jobs: known, sizeAt: size, holder }));
}

/** What the plan looks up itself, `planned`, has errors of its own. */
function findHolder(
  store: JobStore,
  { member, body, query }: NamingRequest,
  planned: readonly string[],
): MaybePromise<Job | null> {
  const find = (inBody: readonly string[]) => {
    const ids = [...idsInQuery(query), ...inBody].filter((id) => !planned.includes(id));
    if (ids.length === 0) return null;
    const objects = new ForeignObjects(store, member.group.id);
    const refusing = objects.refuse(ids);
    return refusing ? refusing.then(() => objects.holder) : objects.holder;
  };
  const inBody = idsInBody(body);
  return inBody instanceof Promise ? inBody.then(find) : find(inBody);
}

function findSizes(store: JobStore, { match, member, body }: NamingRequest): MaybePromise<SizeAt> {
  if (!hardBudgetOf(member) || !isPaid(match.route)) return unknownSize;
  const { isOpen, ids } = referredIn(body.captured);
  if (isOpen || ids.length === 0) return unknownSize;
  const { id: groupId } = member.group;
  try {
    const found = store.lookUp(ids, groupId, { withSizes: true });
    return found instanceof Promise
      ? found.then((known) => sizesIn(known, ids, groupId)).catch(() => unknownSize)
      : sizesIn(found, ids, groupId);
  } catch {
    // The rest of the window is reserved then.
    return unknownSize;
  }
}

/** Another provider may have an object of the same id. */
function sizesIn(known: KnownJobs, ids: readonly string[], groupId: string): SizeAt {
  const jobs = new Map(ids.map((id) => [id, known.findAny(id, groupId)]));
  return (id, providerId) => {
    const job = jobs.get(id);
    return typeof job === 'object' && job.providerId === providerId ? (job.inputTokens ?? null) : null;
  };
}

const none: readonly string[] = [];
/** Of those in the body of a passthrough request, as many are asked for their owner. */
const maxOwned = 32;

/**
 * Finds the provider's objects that decide to which account a request is sent, since it owns them.
 *
 * The ids of the stored objects whose owner answers the request.
 */
function referencedObjects(match: RouteMatch, body: RequestBody): readonly string[] {
  const { passthrough, route } = match;
  if (passthrough) return [...passthrough.names, ...owningIds(body)];
  const { previousResponseId } = body.fields;
  const threadId = continuedThread(match, body);
  if (threadId !== null) return [threadId];
  if (!route.job && previousResponseId === null) return none;
  return [match.id, referencedConversation(match, body), previousResponseId].filter((id) => id !== null);
}

/** The stored conversation that a new response continues; null if there is none. */
function referencedConversation({ route }: RouteMatch, body: RequestBody): string | null {
  if (route.job?.kind !== 'response' || route.job.behaviour !== 'creates') return null;
  return conversationIn(body);
}

/** The latest message of the stored thread that the request continues; null if it continues none. */
function continuedThread({ route }: RouteMatch, body: RequestBody): string | null {
  return route.wire.request.threadOf?.(body)?.previousMessageId ?? null;
}

function owningIds({ referencedIds = none }: RequestBody): readonly string[] {
  return referencedIds.slice(0, maxOwned);
}

// Refuses a request that names an object of another group, anywhere.

/** Each is a point read, of 20 µs in SQLite. */
const idsPerTurn = 100;
/** More than a batch may have requests; each may name one file. */
const maxIds = 100_000;

/** The ids of stored objects in the query of a request, which begins with `?` or is empty. */
function idsInQuery(query: string): readonly string[] {
  return query === '' ? none : idsInParameters(query.slice(1));
}

/** Those in a body that is held. */
function idsInBody({ referencedIds, mayNameObjects, captured }: RequestBody): MaybePromise<readonly string[]> {
  if (referencedIds) return referencedIds;
  return mayNameObjects && captured ? idsInJson(captured, objectMembers) : none;
}

/** Looks up what one request names, as it comes to light, and who holds it. */
export class ForeignObjects {
  readonly #store: Pick<JobStore, 'lookUp'>;
  readonly #groupId: string;
  readonly #seen = new Set<string>();
  #holder: Job | null = null;

  constructor(store: Pick<JobStore, 'lookUp'>, groupId: string) {
    this.#store = store;
    this.#groupId = groupId;
  }

  /** The first object that is known to be the group's own. */
  get holder(): Job | null {
    return this.#holder;
  }

  /** Throws or rejects with a GatewayError if one of these is another group's, or too many are named. */
  refuse(ids: readonly string[]): MaybePromise<void> {
    const fresh = [...new Set(ids)].filter((id) => !this.#seen.has(id));
    if (fresh.length === 0) return;
    for (const id of fresh) this.#seen.add(id);
    if (this.#seen.size > maxIds) {
      throw new GatewayError(
        'invalid_value',
        `This request names more than ${maxIds} stored objects. Send less at once.`,
      );
    }
    return fresh.length <= idsPerTurn ? this.#refuseSome(fresh) : this.#refuseMany(fresh);
  }

  async #refuseMany(ids: readonly string[]): Promise<void> {
    for (let from = 0; from < ids.length; from += idsPerTurn) {
      await this.#refuseSome(ids.slice(from, from + idsPerTurn));
      await yieldToEventLoop();
    }
  }

  #refuseSome(ids: readonly string[]): MaybePromise<void> {
    const found = this.#store.lookUp(ids, this.#groupId);
    const refuse = (known: Awaited<typeof found>) => {
      for (const id of ids) {
        const job = known.findAny(id, this.#groupId);
        if (job === 'foreign') throw noSuchObject(id);
        this.#holder ??= job ?? null;
      }
    };
    return found instanceof Promise ? found.then(refuse) : refuse(found);
  }
}

function noSuchObject(id: string): GatewayError {
  return new GatewayError('job_not_found', `No such object: '${id.slice(0, 200)}'.`, { param: 'id' });
}
