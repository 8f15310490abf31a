/** What the control plane shows: configuration with its running state. No view ever holds a secret. */
import type { AliasConfig, DialectId, GroupConfig, ProviderConfig, Settings } from './config.ts';
import type { RequestOutcome, RequestRecord, UsageTotals } from './ledger.ts';

export interface CredentialView {
  id: string;
  label: string | null;
  /** `env:NAME`, `file:PATH`, or `keychain` for Sluice's own secret store. */
  reference: string;
  enabled: boolean;
  /** A value was found where the reference leads. */
  hasSecret: boolean;
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
  askUsage: boolean;
  /** Why no request goes there now, for a person; null if requests may. */
  unusable: string | null;
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
  /** Why the last attempt failed, for a person. */
  problem: string | null;
}

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
  /** `key.reveal` can show its secret again. */
  canReveal: boolean;
}

export interface GroupView extends GroupConfig {
  keyCount: number;
}

/** What a group means, saved or not. */
export interface GroupPreviewView {
  /** What its keys could list. */
  models: ModelView[];
  /** Ids of the providers that it may use, in the order in which they would be asked. */
  providers: string[];
}

export type AliasView = AliasConfig;

export interface LedgerHealthView {
  ok: boolean;
  /** Rows that wait to be written. */
  pending: number;
  /** Rows that were lost. */
  dropped: number;
  lastError: string | null;
}

export interface StatusView {
  version: string;
  instanceId: string;
  pid: number;
  /** Unix milliseconds. */
  startedAt: number;
  /** `http://127.0.0.1:4810/v1`; null while it does not listen. */
  baseUrl: string | null;
  /** The configuration's. */
  revision: number;
  /** The configuration comes from a file that Sluice does not write: commands are refused with `read_only`. */
  readOnly: boolean;
  settings: Settings;
  /** The demo provider runs now; whether it should is `settings.demo`. */
  demoIsRunning: boolean;
  /** Where secrets are kept, one line for a person; null until one was needed. */
  secretStore: string | null;
  ledger: LedgerHealthView;
}

/** A request as it stands in the ledger. `outcome` is null while it runs. */
export type RequestView = Omit<RequestRecord, 'outcome' | 'totalMs'> & {
  /** Its place in the ledger; rises with time. */
  seq: number;
  outcome: RequestOutcome | null;
  totalMs: number | null;
};

export interface CapturedBody {
  encoding: 'utf8' | 'base64';
  data: string;
}

export interface UsageView extends UsageTotals {
  /** Id of the key, group or provider, name of the model, or local date (`2026-11-20`); null: requests that had none. */
  name: string | null;
}

/** Steps in which nothing happened are left out. */
export interface UsageStepView {
  /** Unix milliseconds. */
  startMs: number;
  /** Id of the key, group or provider, or name of the model; null: requests that had none, or all together. */
  name: string | null;
  requests: number;
  errors: number;
  inputTokens: number;
  outputTokens: number;
  /** The sum of the costs that are known. */
  costUsd: number;
}

/** Time to the first byte, in milliseconds. Approximate where a step has more than 400 requests: the newest stand for all. */
export interface FirstByteView {
  steps: { startMs: number; samples: number; medianMs: number; p95Ms: number }[];
  /** Of the whole time; null if there was no request. */
  medianMs: number | null;
  p95Ms: number | null;
}

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
  /** What a client would be answered at once; null if the request would go to a provider. */
  refusal: { code: string; message: string } | null;
  /** Every provider, those that are asked first and in their order; the same one more than once where an alias says so. */
  candidates: RouteCandidate[];
}

export interface RouteCandidate {
  provider: string;
  name: string;
  isTaken: boolean;
  /** The upstream model; null if it is not taken. */
  model: string | null;
  /** Lower goes first; among equals the order is drawn by weight. Null if it is not taken. */
  priority: number | null;
  weight: number | null;
  /** In plain words, why it is taken or left out. */
  reason: string;
}

/** One thing that differs between two configurations. Holds no secrets. */
export interface ConfigChange {
  part: 'provider' | 'alias' | 'group' | 'key' | 'setting';
  /** Id of the provider, group or key, name of the alias or setting (`limits.jsonBodyBytes`). */
  name: string;
  kind: 'added' | 'removed' | 'changed';
  /** Of what was changed, as JSON; null where it is absent. */
  fields: { name: string; before: string | null; after: string | null }[];
}

export interface HostView {
  /** Null: nothing is kept. */
  dataFolder: string | null;
  /** Of Node, such as `24.1.0`. */
  node: string;
  /** System and processor, such as `linux x64`. */
  platform: string;
}
