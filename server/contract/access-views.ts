/** Views of keys, groups, aliases and models, and of how a request is routed. They contain no secrets. */

import type { KeyCassette } from './cassette.ts';
import type { AliasConfig, GroupConfig } from './config.ts';
import type { ErrorCode } from './errors.ts';
import type { Limits } from './limit-settings.ts';
import type { LimitMeter } from './limits.ts';
import type { LossNote } from './loss-codes.ts';
import type { Capability, ConversationWire, UpstreamWire } from './operations.ts';
import type { Policy } from './policy.ts';
import type { CooldownView } from './provider-views.ts';

export interface KeyView {
  id: string;
  name: string | null;
  group: string;
  /** Id of the person who owns the key; null if it has no owner. */
  owner: string | null;
  enabled: boolean;
  /** ISO 8601. */
  expiresAt: string | null;
  /** Patterns; null if it may use all models of the group. */
  models: string[] | null;
  /** Of this key alone, in place of those of the same name. */
  aliases: AliasView[];
  /** ISO 8601. */
  createdAt: string | null;
  /** Unix milliseconds; null if never used. */
  lastUsedAt: number | null;
  limits: Limits | null;
  /** In the order of `limits`; empty if the key has no limits. */
  limitUse: LimitMeter[];
  /** Whether headers and bodies of its requests are kept. */
  capture: boolean;
  /** Whether its requests may ask for faults on purpose. */
  faults: boolean;
  /** Null if the group's setting applies. */
  cassette: KeyCassette | null;
  /** Whether `key.reveal` can show its secret again. */
  canReveal: boolean;
  /** The last four characters of its secret; null if unknown. */
  suffix: string | null;
  /** ISO 8601. Until then the secret from before the last rotation is accepted too; null if it is not. */
  previousUntil: string | null;
}

export interface GroupView extends GroupConfig {
  keyCount: number;
  limitUse: LimitMeter[];
}

/** The effect of a group, saved or not. */
export interface GroupPreviewView {
  /** The models that its keys may list. */
  models: ModelView[];
  /** Ids of the providers it may use, in the order in which they would be asked. */
  providers: string[];
  /** Id of the provider that receives the requests that Sluice does not serve itself; null if there is none. */
  passthrough: string | null;
  /** Default models for which a request would be refused. */
  refusedDefaults: RefusedDefault[];
}

export interface RefusedDefault {
  capability: Capability;
  model: string;
  /**
   * `model_not_found`: not allowed or not served; `no_healthy_provider`: served only by providers that cannot be used.
   */
  code: ErrorCode;
}

export type AliasView = AliasConfig;

export type ModelHealth = Pick<CooldownView, 'state' | 'failure' | 'failedWith' | 'until'>;

export interface ModelView {
  id: string;
  ownedBy: string;
  /**
   * Ids of the providers that would be asked, in order. A provider that accepts any model name is omitted while its
   * credential is refused.
   */
  providers: string[];
  /** Whether it is an alias of the configuration. */
  isAlias: boolean;
  /** The context window in tokens; null if unknown. */
  contextTokens: number | null;
  /** US dollars per 1,000,000 tokens of text at the provider that is asked first; null if unknown. */
  price: { inputUsd: number; outputUsd: number | null } | null;
  /** That of its best target; `conditionOfModel` says what it amounts to. */
  health: ModelHealth;
}

/** Where a request would be routed, and why other providers are excluded. */
export interface RouteView {
  model: string;
  group: string;
  key: string | null;
  /** The group's strategy. */
  strategy: Policy['strategy'];
  /** The error that a client would get; null if the request would go to a provider. */
  refusal: RouteRefusal | null;
  /** All providers, first those that would be asked, in order; an alias may list a provider more than once. */
  candidates: RouteCandidate[];
}

export interface RouteRefusal {
  code: ErrorCode;
  /** A similar model name that exists. */
  nearest: string | null;
  /** The ids of the providers that may have the model, since they have not listed theirs. */
  unlisted: readonly string[];
  /** In English. */
  message: string;
}

/** How requests are translated from a client's API to a target's. */
export interface WireWay {
  client: ConversationWire;
  /** If it is the client's own API, bytes are forwarded unchanged. */
  upstream: UpstreamWire;
  /** Request fields that the translation would drop or emulate, if present. Losses of messages are not included. */
  dropped: LossNote[];
  emulated: LossNote[];
}

export interface RouteCandidate {
  provider: string;
  name: string;
  isTaken: boolean;
  /** The upstream model; null if the provider is not used. */
  model: string | null;
  /** Null if the provider is not used. */
  health: CooldownView | null;
  /** Credentials that are not used for this model at present. */
  credentials: ({ id: string } & CooldownView)[];
  /** Recent time to the first byte; null if not measured. */
  firstByteMs: number | null;
  /** Price of a typical request, for comparison; null if unknown. */
  priceUsd: number | null;
  /** Text for a person: what decides the position besides priority and weight; null if nothing else does. */
  place: string | null;
  /** Lower values are asked first; equal ones are ordered at random by weight. Null if the provider is not used. */
  priority: number | null;
  weight: number | null;
  /** How the target is asked, per client API; empty if the target is not used. */
  wires: WireWay[];
  /** Why the provider is used or excluded; `reason` is the English text. */
  why: RouteReason;
  reason: string;
}

/** Why a provider is asked for a model, or why it is excluded. */
export type RouteReason =
  | { code: 'alias' | 'own-alias'; alias: string }
  | { code: 'addressed' | 'listed' | 'any-name' }
  | { code: 'not-in-group' | 'not-allowed'; group: string }
  | { code: 'not-on-key'; key: string }
  | { code: 'not-in-alias' | 'not-in-own-alias'; alias: string }
  /** `reason`: why the provider receives no requests. */
  | { code: 'unusable'; reason: string }
  | { code: 'other-addressed'; provider: string }
  | { code: 'not-served' };

export function describeRouteReason(reason: RouteReason): string {
  switch (reason.code) {
    case 'alias':
      return `the alias "${reason.alias}" leads to it`;
    case 'own-alias':
      return `the key's own alias "${reason.alias}" leads to it`;
    case 'addressed':
      return 'the model name addresses it';
    case 'listed':
      return 'it serves this model';
    case 'any-name':
      return 'it takes any model name';
    case 'not-in-group':
      return `group "${reason.group}" may not use it`;
    case 'not-allowed':
      return `group "${reason.group}" does not allow this model name`;
    case 'not-on-key':
      return `the list of key "${reason.key}" does not allow this model name`;
    case 'not-in-alias':
      return `the alias "${reason.alias}" does not lead to it`;
    case 'not-in-own-alias':
      return `the key's own alias "${reason.alias}" does not lead to it`;
    case 'unusable':
      return reason.reason;
    case 'other-addressed':
      return `the model name addresses provider "${reason.provider}"`;
    case 'not-served':
      return 'it is not known to serve this model';
  }
}
