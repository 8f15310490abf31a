/**
 * What Sluice tells without being asked. A listener first hears a `snapshot` with everything, then only what changed; who
 * missed something (a gap in the revisions, a lost connection) begins anew with a snapshot. Nothing here holds a secret.
 */
import type { RequestRecord, RequestStarted } from './ledger.ts';
import type {
  AliasView,
  GroupView,
  KeyView,
  LedgerHealthView,
  ProviderView,
  RequestView,
  StatusView,
} from './views.ts';

/** What stands in the configuration, with its running state. */
export interface ConfigViews {
  status: StatusView;
  providers: ProviderView[];
  keys: KeyView[];
  groups: GroupView[];
  aliases: AliasView[];
}

export type ControlEvent =
  /** `requests`: the latest, newest first, also those that run. */
  | ({ type: 'snapshot'; requests: RequestView[] } & ConfigViews)
  /** The lists that changed, each whole; `status` holds the new revision of the configuration. */
  | ({ type: 'config-changed' } & Pick<ConfigViews, 'status'> & Partial<ConfigViews>)
  | { type: 'request-started'; request: RequestStarted }
  /** Also for a request that was refused before it started. */
  | { type: 'request-finished'; request: RequestRecord }
  /** Its models were discovered, or could not be. */
  | { type: 'provider-changed'; provider: ProviderView }
  | { type: 'ledger-health'; ledger: LedgerHealthView };

export interface EventMessage {
  /** Rises by one from message to message, beginning with the snapshot's. Not the configuration's revision. */
  revision: number;
  event: ControlEvent;
}
