/** What is shown of who may use what: keys, groups, aliases, models, and the route of a request. Never a secret. */
import type { Capability } from './capability.ts';
import type { AliasConfig, GroupConfig, Limits } from './config.ts';
import type { ErrorCode } from './errors.ts';
import type { LimitMeter } from './limits.ts';
import type { Policy } from './policy.ts';
import type { CooldownView } from './provider-views.ts';
import type { RouteReason } from './route-reason.ts';

export interface KeyView {
  id: string;
  name: string | null;
  group: string;
  enabled: boolean;
  /** ISO 8601. */
  expiresAt: string | null;
  /** Patterns; null: all that the group allows. */
  models: string[] | null;
  /** ISO 8601. */
  createdAt: string | null;
  /** Unix milliseconds; null if never. */
  lastUsedAt: number | null;
  limits: Limits | null;
  /** In the order of `limits`; none where it has none of its own. */
  limitUse: LimitMeter[];
  /** `key.reveal` can show its secret again. */
  canReveal: boolean;
}

export interface GroupView extends GroupConfig {
  keyCount: number;
  limitUse: LimitMeter[];
}

/** What a group means, saved or not. */
export interface GroupPreviewView {
  /** What its keys could list. */
  models: ModelView[];
  /** Ids of the providers that it may use, in the order in which they would be asked. */
  providers: string[];
  /** Id of the provider that gets what Sluice does not serve itself; null: nobody does. */
  passthrough: string | null;
  /** Defaults that a request would be refused with. */
  refusedDefaults: RefusedDefault[];
}

export interface RefusedDefault {
  capability: Capability;
  model: string;
  /** `model_not_found`: the group does not allow it, or nobody serves it; `no_healthy_provider`: who serves it cannot be asked. */
  code: ErrorCode;
}

export type AliasView = AliasConfig;

export interface ModelView {
  id: string;
  ownedBy: string;
  /** Ids of the providers that would be asked, in order. */
  providers: string[];
}

/** Where a request would go, and why not elsewhere. */
export interface RouteView {
  model: string;
  group: string;
  key: string | null;
  /** Of the group. */
  strategy: Policy['strategy'];
  /** What a client would be answered at once; null if the request would go to a provider. */
  refusal: RouteRefusal | null;
  /** Every provider, those that would be asked now first and in their order; the same one more than once where an alias says so. */
  candidates: RouteCandidate[];
}

export interface RouteRefusal {
  code: ErrorCode;
  /** A name that may have been meant. */
  nearest: string | null;
  /** All of it in English. */
  message: string;
}

export interface RouteCandidate {
  provider: string;
  name: string;
  isTaken: boolean;
  /** The upstream model; null if it is not taken. */
  model: string | null;
  /** Null if it is not taken. */
  health: CooldownView | null;
  /** Those of its credentials that are left alone with this model. */
  credentials: ({ id: string } & CooldownView)[];
  /** To the first byte of late; null: not measured. */
  firstByteMs: number | null;
  /** Of a usual request, to compare targets by; null: not known. */
  priceUsd: number | null;
  /** In plain words, what decides on its place now besides priority and weight; null: nothing does. */
  place: string | null;
  /** Lower goes first; among equals the order is drawn by weight. Null if it is not taken. */
  priority: number | null;
  weight: number | null;
  /** Why it is taken or left out; `reason` says the same in plain words. */
  why: RouteReason;
  reason: string;
}
