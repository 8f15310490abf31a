/** What the panel at the tray shows: taken from the views and queries of the window, and small enough to be asked often. */
import type { LimitMeter, LimitScope } from './limits.ts';
import type { Lock } from './lock.ts';
import type { RequestView, UsageView } from './request-views.ts';
import type { SessionView } from './session-views.ts';
import type { StatusView } from './status-views.ts';

export interface PanelView extends Pick<StatusView, 'baseUrl' | 'readOnly' | 'capture' | 'currency'> {
  /** What Home lists under “Needs attention”. */
  attention: PanelAttention;
  /** The usage of the day, as in the query `usage`; null without requests. */
  today: UsageView | null;
  /** Those with a request today, except the window, most recently used first; at most `mostPanelClients`. */
  clients: PanelClient[];
  /** Sessions with a request in the last `panelSessionMs`, latest first; at most `mostPanelSessions`. */
  sessions: SessionView[];
  /** Of keys and groups, the share that is spent highest first. */
  budgets: PanelBudget[];
  /** What providers have told of their own rate limits, where they do and where it still holds. */
  remaining: PanelRemaining[];
  /** The latest five, as in the query `requests`. */
  requests: RequestView[];
}

export const mostPanelClients = 8;
export const mostPanelSessions = 4;
/** An agent is silent between two requests while its tools run. */
export const panelSessionMs = 5 * 60_000;
export const panelRequests = 5;

export interface PanelAttention {
  count: number;
  /** Whether one of them keeps something from working. */
  isBad: boolean;
}

/** A client and the key that it uses. */
export interface PanelClient {
  /** Its latest `user-agent`, as in `RequestRecord`. */
  client: string;
  /** The id of its guide (`contract/clients`); null for an unknown one. Its versions count as one client. */
  product: string | null;
  keyId: string | null;
  keyName: string | null;
  /** Whether no other client has used the key today. */
  hasOwnKey: boolean;
  /** Unix milliseconds. */
  lastUsedAt: number;
  /** Those that it asked for today, latest first; at most four. */
  models: PanelModel[];
}

/** A model as a client names it. */
export interface PanelModel {
  model: string;
  requests: number;
  isAlias: boolean;
  /** Whether the alias is the key's own. */
  isOwn: boolean;
  /** Why the alias cannot be changed; null if it can, or if it is none and one can be added. */
  lock: Lock | null;
  /** Who would be called first now; null if nobody. */
  target: { provider: string; providerName: string; model: string | null } | null;
  /** The other clients that asked for it today, as `product` or `client`. */
  sharedWith: string[];
}

export interface PanelBudget {
  scope: LimitScope;
  id: string;
  name: string;
  meter: LimitMeter;
}

/** A rate limit of a provider, as the headers of its last answer told it: of each credential the one that is nearest to its end. */
export interface RemainingLimit {
  credentialId: string | null;
  kind: 'requests' | 'tokens' | 'input-tokens' | 'output-tokens';
  remaining: number;
  /** Null if it was not told. */
  limit: number | null;
  /** When it is whole again, in Unix milliseconds; null if that was not told. */
  resetsAt: number | null;
}

export interface PanelRemaining extends RemainingLimit {
  provider: string;
  providerName: string;
  /** Null if the provider has only one. */
  credentialLabel: string | null;
}
