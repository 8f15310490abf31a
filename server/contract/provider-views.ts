/** What is shown of a provider: its configuration with its running state. Never a secret. */

import type { DialectId, ProviderConfig } from './config.ts';
import type { FailureClass } from './ledger.ts';
import type { ProbeFinding } from './probe.ts';

/** Whether something is asked now. `cooling`: not until a moment, unless nothing else can. `refused`: not until a person mends it. */
export interface CooldownView {
  state: 'ok' | 'cooling' | 'refused';
  /** What it is left alone for, or was last; null: nothing is held against it. */
  failure: FailureClass | null;
  /** The same for a person; null if it is asked now. */
  reason: string | null;
  /** Unix milliseconds; once it has passed, one request tries it. Null: it is asked now, or a person has to mend it. */
  until: number | null;
}

/** How a provider did of late, as requests saw it. */
export interface ProviderHealthView extends Omit<CooldownView, 'state'> {
  /** The worst that holds for all of it; `degraded`: for a part, or too many of its answers fail. */
  state: CooldownView['state'] | 'degraded';
  /** To the first byte, a moving average in milliseconds; null: not measured. */
  firstByteMs: number | null;
  /** 0 to 1, of the last half minute or so; null: it was not asked. */
  errorRate: number | null;
  /** Those of its models that are left alone; `model` is null for requests that name none. */
  models: ({ model: string | null } & CooldownView)[];
}

export interface CredentialView {
  id: string;
  label: string | null;
  /** `env:NAME`, `file:PATH`, or `keychain` for Sluice's own secret store. */
  reference: string;
  enabled: boolean;
  /** A value was found where the reference leads. */
  hasSecret: boolean;
  health: CooldownView;
}

export interface ProviderView {
  id: string;
  name: string;
  preset: string | null;
  /** The built-in demo: it is in no configuration and cannot be changed, only switched by `settings.demo`. */
  isDemo: boolean;
  dialect: DialectId;
  baseUrl: string;
  enabled: boolean;
  credentials: CredentialView[];
  headers: Record<string, string>;
  /** As configured. */
  models: 'discover' | string[];
  timeouts: ProviderConfig['timeouts'];
  proxy: string;
  apiVersion: string | null;
  /** As configured. */
  contextTokens: number | null;
  askUsage: boolean;
  /** Why no request goes there now, for a person; null if requests may. */
  unusable: string | null;
  /** Running state, kept over changes of the configuration and lost with a restart. */
  health: ProviderHealthView;
  /** Names it is known to serve. */
  modelNames: string[];
  /** It is asked for any other name too. */
  takesAnyModel: boolean;
  /** Null where the models are not discovered. */
  discovery: DiscoveryView | null;
}

export interface DiscoveryView {
  /** Unix milliseconds of the last answer; null if there was none yet. */
  refreshedAt: number | null;
  /** Why the last attempt failed, in English. */
  problem: string | null;
  /** What it found, where it was asked. */
  finding: ProbeFinding | null;
}
