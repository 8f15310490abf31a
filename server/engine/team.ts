/**
 * The port to what gateways for teams add (`server/team`): people who sign in, joining another gateway, and limits that
 * several replicas count together.
 */

import type { LimitReached } from '../contract/limits.ts';
import type { PeopleSettings } from '../contract/people.ts';
import type { AuditEntry } from '../contract/people-views.ts';
import type { SharedCountsSettings, SharedCountsView } from '../contract/replica-limits.ts';
import type { AdminToken } from '../control/admin-token.ts';
import type { Joining, JoinPorts } from '../control/joining.ts';
import type { People } from '../control/people/people.ts';
import type { MaybePromise } from '../ground/promises.ts';
import type { PeopleDoor } from '../http/control-routes.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { LocalLimiterPorts } from '../limits/local-limiter.ts';
import type { HealthTracker } from '../routing/health/health-tracker.ts';
import type { CompiledProvider } from '../routing/snapshot.ts';
import type { SecretStoreOptions } from '../secrets/open-secret-store.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import type { PeopleStore } from '../store/ports/people-store.ts';
import type { Ledger } from '../store/sqlite/ledger.ts';
import type { Fetch } from '../transport/fetch.ts';

/** Each part is imported when it is opened. */
export interface TeamPart {
  openPeople(ports: PeoplePorts): Promise<PeopleSide>;
  openJoining(ports: JoinPorts & SignInPorts): Promise<Joining>;
}

export interface PeopleOptions {
  /** The origin that browsers use: `https://gateway.example`. */
  publicOrigin: string;
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  trustedProxies: readonly string[];
  /** Opens the store for people, sessions and the audit list; default: `people.sqlite` in the data folder. */
  openStore?: (() => MaybePromise<PeopleStore>) | undefined;
}

export interface PeoplePorts {
  options: PeopleOptions;
  /** Null to store in memory, for tests. */
  dataDir: string | null;
  /** For `env:NAME` references. */
  env: Readonly<Record<string, string | undefined>>;
  openSecrets(): Promise<SecretStore>;
  /** For calls to the identity provider. */
  fetch: Fetch;
  /** The settings in force. */
  settings(): PeopleSettings | null;
  /** Of the administrator of the machine. */
  adminToken: Pick<AdminToken, 'matches'>;
  /** An entry of the audit list is stored. */
  audited(entry: Omit<AuditEntry, 'seq'>): void;
  log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

export interface PeopleSide {
  people: People;
  door: PeopleDoor;
  keyOwners: Pick<PeopleStore, 'keepKeyOwners' | 'endKeyOwners' | 'keysOf'>;
  /**
   * Replaces what is done when a person has left: what becomes of their keys. Resolves with the ids of those that go on,
   * because the configuration cannot be changed.
   */
  onLeft(leave: (personId: string, keys: PeopleSettings['keysOfLeavers']) => Promise<readonly string[]>): void;
  close(): Promise<void>;
}

interface SignInPorts {
  fetch: Fetch;
  /** Where the sign-ins at other gateways are stored; null to keep them in memory, for tests. */
  signIns: SecretStoreOptions | null;
}

export interface ReplicaLimitsOptions {
  /** null to keep nothing on disk, for tests. */
  dataDir: string | null;
  /** The name of the ledger that the replicas share; null if each has its own. */
  commonLedger: string | null;
  ledger: Pick<Ledger, 'flush' | 'health'>;
  local: LocalLimiterPorts & { reached(notice: LimitReached): void };
  settings(): SharedCountsSettings;
  /** What the replicas tell one another about the health of providers. Absent: nothing. */
  health?: ReplicaHealth;
  log: LocalLimiterPorts['log'] & { info(fields: object, message: string): void };
}

export interface ReplicaHealth {
  book: Pick<HealthTracker, 'share' | 'applyRemoteCooldown' | 'applyRemoteRecovery' | 'forget'>;
  /** The provider in the configuration in force. */
  provider(id: string): CompiledProvider | undefined;
}

export interface ReplicaLimits {
  limiter: Limiter;
  readonly view: SharedCountsView;
  /** Replaces the listener, which is called when the view has changed. */
  onChange(listener: () => void): void;
  /** Sends pending settlements, and signs this replica off. */
  close(): Promise<void>;
}
