/**
 * The frozen, compiled configuration that a request runs on from beginning to end. Compiled once per revision; the same
 * compiled group answers listing, retrieval and admission, so a key lists exactly what it may call.
 */
import type { Operation } from '../contract/capability.ts';
import type { Limited } from '../contract/limits.ts';
import type { Policy, Timeouts } from '../contract/policy.ts';
import type { Settings } from '../contract/settings.ts';
import type { Prefill } from '../providers/prefill.ts';
import type { ModelInfo, Upstream } from '../providers/upstream.ts';
import type { ListedModel } from '../wire/api.ts';
import type { TargetTimeouts } from './compile-timeouts.ts';

export interface CompiledProvider extends Upstream {
  askUsage: boolean;
  /** What its own configuration says of time limits; `timeouts` has the defaults besides. */
  ownTimeouts: Partial<Timeouts>;
  /** How it goes on with an answer that has begun; null where it does not, or nobody knows. */
  prefill: Prefill | null;
  /** Names it is known to serve. */
  models: ReadonlyMap<string, ModelInfo>;
  /** How many tokens each of its models takes, where that is configured; else `models` may know. */
  contextTokens: number | null;
  /** It takes any name besides. */
  anyModel: boolean;
}

/** Provider and upstream model, with its place among others. */
export interface Target {
  provider: CompiledProvider;
  /** Null for a request that names no model. */
  model: string | null;
  priority: number;
  weight: number;
  /** Its provider is not known to serve the model, and merely takes any name: it goes last. */
  takesAnyName?: true;
  /** How many tokens the model takes here, as configured for it. */
  contextTokens?: number;
}

/** A model object of the API. */
export interface CompiledGroup {
  id: string;
  /** Null: it has no limits. */
  limited: Limited | null;
  capture: boolean;
  /** Of models without a known price, where a hard budget in dollars holds. */
  unpriced: 'refuse' | 'allow';
  defaults: Partial<Record<Operation, string>>;
  /** All that can be listed, by name, in order of name; targets in order. */
  routes: ReadonlyMap<string, Route>;
  /** Aliases that none of their providers can serve now, with the reasons: their names must not go elsewhere meanwhile. */
  unservable: ReadonlyMap<string, string>;
  /** `meant` is the plain name in `provider/model`: allowed under either name, and refused under either. */
  allowsModel(name: string, meant?: string | null): boolean;
  /** Nothing is refused by name. */
  allowsAllModels: boolean;
  /** The providers it may use, in their order. */
  providers: readonly RankedProvider[];
  /** Where paths go that Sluice does not serve itself; else why they go nowhere, for a person. */
  passthrough: { provider: CompiledProvider } | { provider: null; why: string };
  policy: Policy;
  /** By provider id: the provider's own over the group's over the defaults. */
  timeouts: ReadonlyMap<string, TargetTimeouts>;
}

export interface RankedProvider {
  provider: CompiledProvider;
  priority: number;
  weight: number;
}

export interface Route {
  listed: ListedModel;
  targets: readonly Target[];
}

export interface CompiledKey {
  id: string;
  /** Null: it has no limits of its own. */
  limited: Limited | null;
  /** SHA-256 of its secret. */
  digest: Buffer;
  name: string;
  groupId: string;
  /** Its group has other keys that are enabled. */
  sharesGroup: boolean;
  enabled: boolean;
  /** Unix milliseconds. */
  expiresAtMs: number | null;
  /** Null: all that the group allows. */
  allowsModel: ((name: string) => boolean) | null;
}

export interface Snapshot {
  revision: number;
  settings: Settings;
  /** By the SHA-256 of the secret, its bytes as a latin1 string. */
  keys: ReadonlyMap<string, CompiledKey>;
  providers: ReadonlyMap<string, CompiledProvider>;
  /** What is wrong with the configuration and does not keep it from being used, a line each. */
  notices: readonly string[];
  /** Compiled on first use. */
  group(id: string): CompiledGroup | undefined;
}
