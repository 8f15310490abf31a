/**
 * The compiled, immutable configuration. A request uses one snapshot from beginning to end. Listing and routing use the
 * same compiled group, so a key lists exactly the models that it may use.
 */
import type { ListedModel } from '../apis/core/api.ts';
import type { ChatFlavour } from '../apis/core/chat-flavour.ts';
import type { CacheSettings } from '../contract/answer-cache.ts';
import type { CassetteChoice } from '../contract/cassette.ts';
import type { AliasConfig } from '../contract/config.ts';
import { parseHostRule, parseOriginRule } from '../contract/host-rule.ts';
import type { Limited } from '../contract/limits.ts';
import type { Operation } from '../contract/operations.ts';
import { defaultTimeouts, type Policy, type Timeouts } from '../contract/policy.ts';
import type { Settings } from '../contract/settings.ts';
import type { Prefill } from '../providers/dialects.ts';
import type { ModelInfo, Upstream } from '../providers/upstream.ts';

export interface CompiledProvider extends Upstream {
  askUsage: boolean;
  /** The provider's own timeouts, without the defaults that `timeouts` contains. */
  ownTimeouts: Partial<Timeouts>;
  /** What it refuses of a model's chat requests; null: nothing that is known. */
  chatFlavourOf(model: string): ChatFlavour | null;
  /** Differs after each edit of the provider. */
  configuredAs: string;
  /** How it can be prompted to continue an answer; null if it cannot, or if that is unknown. */
  prefill: Prefill | null;
  /** The models it is known to serve. */
  models: ReadonlyMap<string, ModelInfo>;
  /** The configured context window of all its models; null: see `models`. */
  contextTokens: number | null;
  /** Whether requests for other model names are sent to it, too. */
  anyModel: boolean;
}

/** A provider and an upstream model. */
export interface Target {
  provider: CompiledProvider;
  /** Null for a request that names no model. */
  model: string | null;
  priority: number;
  weight: number;
  /** The provider is not known to serve the model but accepts any name, so the target comes last. */
  takesAnyName?: true;
  /** The configured context window of this target. */
  contextTokens?: number;
}

export interface CompiledGroup {
  id: string;
  /** Null: no limits. */
  limited: Limited | null;
  /** Headers and bodies of its requests are kept: of all, or of those whose clients ask for it. */
  capture: boolean;
  captureOnRequest: boolean;
  /** Whether models without a known price may be used under a hard budget in dollars. */
  unpriced: 'refuse' | 'allow';
  defaults: Partial<Record<Operation, string>>;
  /** All listed models by name, sorted by name. */
  routes: ReadonlyMap<string, ModelRoute>;
  /** Aliases none of whose providers is usable, with the reasons. Their names are not routed elsewhere. */
  unservable: ReadonlyMap<string, string>;
  /** The aliases in force, by name, usable or not. */
  aliases: ReadonlyMap<string, AliasConfig>;
  /** `meant`: the plain name in `provider/model`. Patterns are matched against both names. */
  allowsModel(name: string, meant?: string | null): boolean;
  /** Whether the group bans no such model, in whatever form it is named. The targets of `routes` are all permitted. */
  mayAsk(target: Pick<Target, 'provider' | 'model'>): boolean;
  /** Whether no model name is refused. */
  allowsAllModels: boolean;
  /** The providers it may use, in order. */
  providers: readonly RankedProvider[];
  /** The provider for paths that Sluice does not serve itself; if there is none, the reason as a message for a person. */
  passthrough: { provider: CompiledProvider } | { provider: null; why: string };
  deleteUnknown: 'alone' | 'allow' | 'refuse';
  policy: Policy;
  /** Null: its answers are not cached. */
  cache: CacheSettings | null;
  /** By provider id; the provider's own override the group's, and these the defaults. */
  timeouts: ReadonlyMap<string, TargetTimeouts>;
}

export interface RankedProvider {
  provider: CompiledProvider;
  priority: number;
  weight: number;
}

export interface ModelRoute {
  listed: ListedModel;
  targets: readonly Target[];
}

export interface CompiledKey {
  id: string;
  /** Null: no limits of its own. */
  limited: Limited | null;
  /** The limits of its owner over all of their keys; null: none. */
  person: Limited | null;
  /** SHA-256 of its secret. */
  digest: Buffer;
  name: string;
  groupId: string;
  capture: boolean;
  /** Requests may ask for faults on purpose. */
  faults: boolean;
  /** Its own or its group's; null: its requests are neither recorded nor replayed. */
  cassette: CassetteChoice | null;
  /** Whether its group has other enabled keys. */
  sharesGroup: boolean;
  enabled: boolean;
  /** Unix milliseconds. */
  expiresAtMs: number | null;
  /** Null: all models of the group. */
  allowsModel: ((name: string) => boolean) | null;
  /** Of this key alone; null: none. */
  aliases: readonly AliasConfig[] | null;
  /** Unix milliseconds: when this secret of the key, replaced by a rotation, stops working; null: it is the present one. */
  replacedAtMs: number | null;
}

/** The sender of a request: a key, and the group that decides what it may use. */
export interface Member {
  group: CompiledGroup;
  key: CompiledKey;
}

export interface Snapshot {
  settings: Settings;
  /** From which hosts and web pages requests are accepted. */
  source: SourceRules;
  /** By the SHA-256 of the secret as a latin1 string. */
  keys: ReadonlyMap<string, CompiledKey>;
  providers: ReadonlyMap<string, CompiledProvider>;
  /** Warnings about the configuration, one line each. */
  notices: readonly string[];
  /** No two groups share the providers' accounts. */
  hasOneGroup: boolean;
  /** Compiled on first use. */
  group(id: string): CompiledGroup | undefined;
  /** The key's group with the key's own aliases; compiled on first use. */
  groupOf(key: Pick<CompiledKey, 'id' | 'groupId' | 'aliases' | 'allowsModel'>): CompiledGroup | undefined;
}

export interface SourceRules {
  /** `name`: the header Host without the port. Loopback names are accepted anyway. */
  allowsHost(name: string): boolean;
  /** Sluice's own pages are accepted anyway. */
  allowsOrigin(origin: string): boolean;
  /** As browsers see Sluice: `https://gateway.example`; null without a public address. */
  publicOrigin: string | null;
}

export interface AttemptTimeouts extends Timeouts {
  /** How long an answer that has begun may go without content, while comments and the like keep arriving. */
  progressMs: number;
}

export interface TargetTimeouts {
  /** No other target is left. */
  last: AttemptTimeouts;
  /** Another target is left. */
  stream: AttemptTimeouts;
  whole: AttemptTimeouts;
}

/** From which hosts and web pages requests are accepted, compiled from the settings. Pure. */
export function compileSourceRules(
  { allowedHosts, allowedOrigins }: Pick<Settings, 'allowedHosts' | 'allowedOrigins'>,
  publicOrigin: string | null,
): SourceRules {
  const hosts = allowedHosts
    .map((entry) => parseHostRule(entry, { subdomains: false }))
    .filter((rule) => rule !== null);
  const origins = allowedOrigins.map(parseOriginRule).filter((rule) => rule !== null);
  const publicHost = publicOrigin === null ? null : new URL(publicOrigin).hostname;
  return {
    allowsHost: (name) => name === publicHost || hosts.some((matches) => matches(name)),
    allowsOrigin: (origin) => origin === publicOrigin || origins.some((matches) => matches(origin)),
    publicOrigin,
  };
}

/** Accepts loopback names and no web pages but Sluice's own. */
export const loopbackOnly: SourceRules = compileSourceRules({ allowedHosts: [], allowedOrigins: [] }, null);

// The timeouts of an attempt, from the configuration and from whether another target is left.

/** OpenAI's SDKs give up after 600 s themselves, so a fallback must begin much earlier. */
const streamPatienceMs = 60_000;
const wholePatienceMs = 120_000;

/** `configured`: the timeouts of group and provider, which override all defaults. */
export function compileTimeouts(configured: Partial<Timeouts>): TargetTimeouts {
  const timeouts = { ...defaultTimeouts, ...configured };
  const last = { ...timeouts, progressMs: Math.max(timeouts.firstContentMs, timeouts.idleMs) };
  const withPatience = (patienceMs: number): AttemptTimeouts => {
    const { firstByteMs, firstContentMs } = configured;
    // If only one of the two is configured, and longer, the other follows it.
    const otherwiseMs = Math.max(patienceMs, firstByteMs ?? 0, firstContentMs ?? 0);
    return { ...last, firstByteMs: firstByteMs ?? otherwiseMs, firstContentMs: firstContentMs ?? otherwiseMs };
  };
  return { last, stream: withPatience(streamPatienceMs), whole: withPatience(wholePatienceMs) };
}

interface PlannedTargets {
  /** Whether another target can still be asked after an attempt that takes this long. */
  leavesAnother(patienceMs: number): boolean;
}

/** While another target is left, the limits are shorter than those of the client. */
export function timeoutsOf(limits: TargetTimeouts, isStream: boolean, plan: PlannedTargets): AttemptTimeouts {
  const early = isStream ? limits.stream : limits.whole;
  return plan.leavesAnother(Math.max(early.firstByteMs, early.firstContentMs)) ? early : limits.last;
}
