/**
 * The events of the control plane. A listener first receives a `snapshot`, then changes only. After a gap in the
 * revisions or a lost connection it must subscribe again. Events contain no secrets.
 */

import type { AliasView, GroupView, KeyView } from './access-views.ts';
import type { RequestRecord, RequestStarted } from './ledger.ts';
import type { LimitMeter, LimitReached } from './limits.ts';
import type { ProviderView } from './provider-views.ts';
import type { PinChange, RefusalView, RequestView } from './request-views.ts';
import type { SessionBudgetReached } from './session-views.ts';
import type { LedgerHealthView, StandstillView, StatusView } from './status-views.ts';

/** The configuration with its running state. */
export interface ConfigViews {
  status: StatusView;
  providers: ProviderView[];
  /** The first `maxReported` keys; the query `find-keys` finds the others. */
  keys: KeyView[];
  /** Total number of keys. */
  keyCount: number;
  /** The first `maxReported`; the query `find-groups` knows the others. */
  groups: GroupView[];
  /** Of all. */
  groupCount: number;
  aliases: AliasView[];
  /** Requests without a valid key in the last hour. */
  refusals: RefusalView[];
}

export type ControlEvent =
  /** `requests`: the latest, newest first, including running ones. */
  | ({ type: 'snapshot'; requests: RequestView[] } & ConfigViews)
  /**
   * The lists that changed, each as in a snapshot; `status` has the configuration's new revision. If a change concerns
   * only keys or groups beyond the reported ones, their count alone. `groupKeyCounts`: the new `keyCount` of groups that
   * gained or lost keys, by group id, if `groups` is absent.
   */
  | ({ type: 'config-changed'; groupKeyCounts?: Record<string, number> } & Pick<ConfigViews, 'status'> &
      Partial<ConfigViews>)
  | { type: 'request-started'; request: RequestStarted }
  /** Includes requests refused before they started, except those without a valid key: see `refusals`. */
  | { type: 'request-finished'; request: RequestRecord }
  /** The provider's models were discovered, discovery failed, or its health changed. */
  | { type: 'provider-changed'; provider: ProviderView }
  /** Sent once in each period of the budget. */
  | { type: 'limit-reached'; notice: LimitReached }
  | { type: 'session-budget-reached'; notice: SessionBudgetReached }
  /** A new version of Sluice has been downloaded. Only the desktop program checks for updates. */
  | { type: 'update-ready'; version: string }
  /** The reported keys and groups whose use changed, by id. Sent at most once a second. */
  | {
      type: 'limit-use';
      keys: Record<string, LimitMeter[]>;
      groups: Record<string, LimitMeter[]>;
    }
  /** A request was pinned, or its note changed; `pin` is null if it was unpinned. By this gateway, not by another replica. */
  | ({ type: 'pin-changed' } & PinChange)
  | { type: 'ledger-health'; ledger: LedgerHealthView }
  /** Sent at most every two seconds. */
  | { type: 'refusals'; refusals: RefusalView[] }
  /** The event loop was blocked and is running again. */
  | { type: 'standstill'; standstill: StandstillView };

export interface EventMessage {
  /** Increases by one with each message, starting at the snapshot. Not the configuration's revision. */
  revision: number;
  event: ControlEvent;
}
