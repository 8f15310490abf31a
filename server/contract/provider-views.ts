/** Views of providers: configuration and running state. They contain no secrets. */
import type { ConversationApi, DialectId, ProviderConfig } from './config.ts';
import type { FailureClass } from './ledger.ts';
import type { ProbeFinding } from './probe.ts';

/** Why a call got no answer. `dns`: the name has no address; `dns-timeout`: no name server answered in time. */
export const connectionFaults = [
  'dns',
  'dns-timeout',
  'refused',
  'tls',
  'proxy',
  'reset',
  'timeout',
  'malformed',
] as const;
export type ConnectionFault = (typeof connectionFaults)[number];

/** What a failed call met: the HTTP status of the answer, or why there was none. Null: not known. */
export type FailedWith = number | ConnectionFault | null;

/**
 * Whether something is used. `degraded`: yes, but too many requests fail. `cooling`: not before `until`, unless no other target
 * is left. `refused`: not before a person acts.
 */
export interface CooldownView {
  state: 'ok' | 'degraded' | 'cooling' | 'refused';
  /** What failed last; null if it has answered since, or if nothing failed. */
  failure: FailureClass | null;
  /** What the failed call met: the HTTP status of the answer, or why there was none; null if it is not known. */
  failedWith: FailedWith;
  /** How many calls in a row have failed since its last answer. */
  failures: number;
  /** Of the last of them, in Unix milliseconds; null if another replica saw it. */
  failedAt: number | null;
  /** Why, as text for a person; null if nothing has failed since its last answer. */
  reason: string | null;
  /** Unix milliseconds, after which one request tries it. Null if the next one does, or if a person has to act. */
  until: number | null;
}

/**
 * A provider's recent health, as observed by requests, by tests and by asking for its models. `degraded`: some of its models or
 * credentials fail, or too many requests.
 */
export interface ProviderHealthView extends CooldownView {
  /** Its last answer to a request or a test, in Unix milliseconds; null if there was none since the start. */
  answeredAt: number | null;
  /** Time to the first byte, a moving average; null if not measured. */
  firstByteMs: number | null;
  /** From 0 to 1, over about the last half minute; null without requests. */
  errorRate: number | null;
  /** Its models that fail at present, the one that failed last first; `model` is null for requests that name none. */
  models: ({ model: string | null } & CooldownView)[];
}

export interface CredentialView {
  id: string;
  label: string | null;
  /** `env:NAME`, `file:PATH`, or `keychain` for Sluice's own secret store. */
  reference: string;
  enabled: boolean;
  /** Whether the reference resolves to a value. */
  hasSecret: boolean;
  health: CooldownView;
}

export interface ProviderView {
  id: string;
  name: string;
  preset: string | null;
  /** As configured. */
  joined: boolean;
  /** Whether it is the built-in demo provider, which can only be switched by `settings.demo`. */
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
  /** The fingerprint of the one certificate that is trusted for it; null: those of trusted authorities. */
  certificate: string | null;
  apiVersion: string | null;
  /** As configured. */
  contextTokens: number | null;
  askUsage: boolean;
  /** As configured. */
  serves: ConversationApi[] | null;
  /** As configured. */
  free: boolean | null;
  /** Whether its models cost nothing, unless they have a price in `settings.prices` or run elsewhere. */
  isFree: boolean;
  /** Why it receives no requests, as text for a person; null if it does. */
  unusable: string | null;
  /** Kept across configuration changes, but lost at a restart. */
  health: ProviderHealthView;
  /** The models it is known to serve. */
  modelNames: string[];
  /** Whether requests for other model names are sent to it, too. */
  takesAnyModel: boolean;
  /** Null if `models` is a list. */
  discovery: DiscoveryView | null;
}

export interface DiscoveryView {
  /** Time of the last successful discovery in Unix milliseconds; null if there was none. */
  refreshedAt: number | null;
  /** Why the last attempt failed, in English. */
  problem: string | null;
  /** The finding of the last attempt. */
  finding: ProbeFinding | null;
}

/** A first cooldown is shorter, so a provider counts as down only once the following trial has failed too. */
const worthReportingMs = 1_500;

/** Whether a provider answers no requests although it should; null if it is too soon to tell. */
export function isDown({ enabled, unusable, health }: ProviderView, nowMs: number): boolean | null {
  if (!enabled) return false;
  if (unusable !== null) return true;
  if (health.state !== 'cooling') return false;
  return health.until !== null && health.until - nowMs > worthReportingMs ? true : null;
}

/** The models of a provider that fail although it answers for others. */
export interface FailingModels {
  /** Null stands for requests that name no model. */
  models: readonly (string | null)[];
  /** How many it has; null: it takes any name. */
  total: number | null;
}

/** Null if none fails, or if the provider as a whole does. */
export function failingModelsOf({ health, modelNames, takesAnyModel }: ProviderView): FailingModels | null {
  if (health.state !== 'degraded' || health.models.length === 0) return null;
  const models = health.models.map(({ model }) => model);
  return { models, total: takesAnyModel ? null : Math.max(modelNames.length, models.length) };
}

/** Why a provider receives no requests. */
export type ProviderBlock = 'off' | 'no-credential' | 'leads-back';

/** Null if the provider can receive requests. */
export function blockOf({
  enabled,
  unusable,
  credentials,
}: Pick<ProviderView, 'enabled' | 'unusable' | 'credentials'>): ProviderBlock | null {
  if (!enabled) return 'off';
  if (unusable === null) return null;
  const lacksCredential = credentials.length > 0 && !credentials.some((each) => each.enabled && each.hasSecret);
  return lacksCredential ? 'no-credential' : 'leads-back';
}

/** What people call the API of each dialect. */
export const apiNames: Readonly<Record<DialectId, string>> = {
  openai: 'OpenAI’s API',
  azure: 'Azure’s OpenAI API',
  anthropic: 'Anthropic’s API',
  gemini: 'Gemini’s API',
  bedrock: 'Bedrock’s API',
  vertex: 'Vertex AI’s API',
};
