/** The engine's dependencies, which differ between desktop, terminal and tests. */
import type { Logger } from 'pino';
import type { Api } from '../apis/core/api.ts';
import type { ConfigStore } from '../config/config-store.ts';
import type { ManagedPresets } from '../config/managed-preset.ts';
import type { TeamMemoryStore } from '../config/team-memory.ts';
import type { CassetteDeck } from '../exchange/cassette/cassette-companion.ts';
import type { LogRequest } from '../ground/files/log.ts';
import type { MaybePromise } from '../ground/promises.ts';
import type { SecretStoreOptions } from '../secrets/open-secret-store.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import type { Store, StoreOptions } from '../store/store.ts';
import type { ProxySettings } from '../transport/proxy-choice.ts';
import type { PeopleOptions, ReplicaLimits, ReplicaLimitsOptions, TeamPart } from './team.ts';

export interface GatewayPorts {
  folders: GatewayFolders;
  config: ConfigStore;
  /** Called on first use, so that a keychain is not opened unnecessarily. */
  openSecrets: () => Promise<SecretStore>;
  /** For `env:NAME` references. */
  env: Readonly<Record<string, string | undefined>>;
  proxies: ProxySettings;
  logging: GatewayLogging;
  /** What other replicas use, too. Absent: nothing. */
  replicas?: ReplicaPorts;
  teams?: TeamPorts;
  /** The APIs offered to clients; default: all that Sluice knows. */
  apis?: readonly [Api, ...Api[]];
  /** Records all requests, or answers them instead of providers. Absent: the settings of groups and keys apply. */
  cassette?: CassetteDeck | undefined;
  /** Overrides the configuration. */
  listen?: { host?: string; port?: number };
}

export interface GatewayFolders {
  /** Prepared by the caller (`data-folder/claim-folder.ts`). Null: ledger and jobs are in memory, for tests. */
  dataDir: string | null;
  /** A private folder to use while the data folder is not writable; null or absent if there is none. */
  fallbackFolder?: string | null;
  /** The folder for spooled uploads, which exists and is private. */
  uploadFolder: string;
  /** The folder of the built window; null if there is none. */
  windowFolder: string | null;
  /** The folder of the log file, for display; absent if there is none. */
  logFolder?: string;
}

export interface GatewayLogging {
  log: Logger;
  /** The log file to which the loop watch writes while the event loop is blocked; absent if there is none. */
  logPath?: string;
  /** Called for each request that has ended. */
  logRequest: LogRequest;
  /** Receives messages for the user at start, one line each, without secrets. */
  notice?: (line: string) => void;
}

export interface ReplicaPorts {
  /** Opens the durable store; default: SQLite files in the data folder. */
  openStore?: ((options: StoreOptions) => MaybePromise<Store>) | undefined;
  /** Counts limits together with other replicas. Absent: each process counts on its own. */
  openReplicaLimits?: ((options: ReplicaLimitsOptions) => Promise<ReplicaLimits>) | undefined;
}

export interface TeamPorts {
  /** Team presets. Absent: there is no managed one, and an imported one is not stored. */
  team?: { managed: ManagedPresets; memory: TeamMemoryStore };
  /** Sign-in of people; absent: none. */
  people?: PeopleOptions | undefined;
  /** Absent in a build without it. */
  loadTeam?: (() => Promise<TeamPart>) | undefined;
  /** Where the sign-ins at team gateways are stored; default: in memory. */
  signIns?: SecretStoreOptions | undefined;
}
