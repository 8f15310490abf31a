/**
 * What Sluice tells without being asked. A listener first hears a `snapshot` with everything, then only what changed; who
 * missed something (a gap in the revisions, a lost connection) begins anew with a snapshot. Nothing here holds a secret.
 */

import type { AliasView, GroupView, KeyView } from './access-views.ts';
import type { RequestRecord, RequestStarted } from './ledger.ts';
import type { LimitMeter, LimitReached } from './limits.ts';
import type { ProviderView } from './provider-views.ts';
import type { RefusalView, RequestView } from './request-views.ts';
import type { LedgerHealthView, StandstillView, StatusView } from './status-views.ts';

/** What stands in the configuration, with its running state. */
export interface ConfigViews {
  status: StatusView;
  providers: ProviderView[];
  keys: KeyView[];
  groups: GroupView[];
  aliases: AliasView[];
  /** Of the last hour. */
  refusals: RefusalView[];
}

export type ControlEvent =
  /** `requests`: the latest, newest first, also those that run. */
  | ({ type: 'snapshot'; requests: RequestView[] } & ConfigViews)
  /** The lists that changed, each whole; `status` holds the new revision of the configuration. */
  | ({ type: 'config-changed' } & Pick<ConfigViews, 'status'> & Partial<ConfigViews>)
  | { type: 'request-started'; request: RequestStarted }
  /** Also for a request that was refused before it started, but for those without a valid key: see `refusals`. */
  | { type: 'request-finished'; request: RequestRecord }
  /** Its models were discovered, or could not be; or its health is another one. */
  | { type: 'provider-changed'; provider: ProviderView }
  /** Once in each period of the budget. */
  | { type: 'limit-reached'; notice: LimitReached }
  /** By id, of those that have limits. At most once a second. */
  | {
      type: 'limit-use';
      keys: Record<string, LimitMeter[]>;
      groups: Record<string, LimitMeter[]>;
    }
  | { type: 'ledger-health'; ledger: LedgerHealthView }
  /** At most every two seconds. */
  | { type: 'refusals'; refusals: RefusalView[] }
  /** The program stood still, and goes on. */
  | { type: 'standstill'; standstill: StandstillView };

export interface EventMessage {
  /** Rises by one from message to message, beginning with the snapshot's. Not the configuration's revision. */
  revision: number;
  event: ControlEvent;
}
