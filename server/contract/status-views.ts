/** Views of the program itself: its state, team presets, machine and network. */
import type { TimedFaultsView } from './faults.ts';
import type { Lock } from './lock.ts';
import type { Person } from './people.ts';
import type { CurrencyView } from './price-views.ts';
import type { SharedCountsView } from './replica-limits.ts';
import type { Settings } from './settings.ts';

export type SecretStoreKind = 'keychain' | 'file' | 'database' | 'memory';

export interface StatusView {
  /** The signed-in person; null for the administrator of the machine. */
  person: Person | null;
  version: string;
  instanceId: string;
  pid: number;
  /** Unix milliseconds. */
  startedAt: number;
  /**
   * The base URL to give to clients: `http://127.0.0.1:4810/v1`, or that of the public address; null while Sluice does not
   * listen.
   */
  baseUrl: string | null;
  /** Where it listens on this machine: `http://127.0.0.1:4810`; null while it does not, or for people without that right. */
  listensAt: string | null;
  /** The parts of its address that were given at the start, which count more than the settings. */
  givenAddress: ('host' | 'port')[];
  /** The configuration's revision. */
  revision: number;
  /** The configuration is a declarative file, so commands that change it are refused with `read_only`. */
  readOnly: boolean;
  /** Set if the stored configuration could not be used at this start and was replaced. */
  configReplaced: ReplacedConfig | null;
  /** What the configuration and team presets said of removed features when they were read, one sentence for each field. */
  removedFields: string[];
  settings: Settings;
  /** How amounts of money are shown; null: in US dollars. */
  currency: CurrencyView | null;
  /** Whether the demo provider is running; `settings.demo` is the setting. */
  demoIsRunning: boolean;
  /** Where secrets are stored, as text for a person; null until a secret is needed. */
  secretStore: string | null;
  /** The same as a code. */
  secretStoreKind: SecretStoreKind | null;
  ledger: LedgerHealthView;
  /** Null if limits are counted by this process alone, without `serve --shared`. */
  sharedCounts: SharedCountsView | null;
  /** Captures that `capture.start` has begun and that have not ended yet. */
  capture: TimedCaptureView[];
  /**
   * Whether the newest requests are kept in memory where capture is off: because the person wanted it, or until they are asked.
   * Null: they are not.
   */
  recentCapture: 'unasked' | 'on' | null;
  /** Faults on purpose that `faults.start` has begun and that have not ended yet. */
  faults: TimedFaultsView[];
  /** The latest standstill since the start. */
  standstill: StandstillView | null;
  /** The team presets in force and their locks. */
  team: { presets: TeamPresetView[]; locks: Lock[] };
}

/** A capture of all requests, or of those of a group or key, that ends by itself. */
export interface TimedCaptureView {
  kind: 'all' | 'group' | 'key';
  /** Id of the group or key; null for all requests. */
  id: string | null;
  /** It ends after this many more requests; null if only the time ends it. */
  requestsLeft: number | null;
  /** Unix milliseconds. */
  untilMs: number;
}

export interface ReplacedConfig {
  /** The backup of the same revision, or an empty configuration. */
  by: 'backup' | 'nothing';
  /** Where the damaged file was moved; null if it was missing. */
  movedTo: string | null;
}

/** Rows that the database refuses, although it works. */
export interface SetAsideView {
  rows: number;
  /** To which they were written; null if there is none. */
  file: string | null;
}

export interface LedgerHealthView {
  ok: boolean;
  /** Rows waiting to be written. */
  pending: number;
  /** The part of `pending` that is kept on this replica's disk, because the database cannot be reached. */
  spooled: number;
  /** Rows that were lost. */
  dropped: number;
  /** Absent if the database has refused no row. */
  setAside?: SetAsideView | undefined;
  lastError: string | null;
  /** Why the budget totals cannot be written to their file; null if they can. */
  budgetsError: string | null;
  /**
   * Set if the file was damaged or removed since the start and a new one was created; `movedTo` is the path of the
   * damaged one. `budgetsAreLost`: the budget totals were lost too, and budgets start again from zero.
   */
  replaced: { movedTo: string | null; reason: string; budgetsAreLost: boolean } | null;
  /** What the captures take; absent if there are none, or while that is not known. */
  capturedBytes?: number | undefined;
}

/** The event loop was blocked for more than a second. */
export interface StandstillView {
  /** Unix milliseconds. */
  at: number;
  ms: number;
  /** The request that blocked it; null if it was not a request to `/v1`. */
  request: { id: string; keyId: string; route: string } | null;
  /** Number of standstills since the start. */
  count: number;
}

export interface TeamPresetView {
  /** `built-in`: part of the program; `policy`: installed by the machine's administrator; `imported`: by a person. */
  source: 'built-in' | 'policy' | 'imported';
  name: string;
  organisation: string;
  contact: string | null;
  version: string | null;
  /** Origin of the team gateway that offered it when it was joined: `https://gateway.example`. */
  gateway?: string;
}

export interface HostView {
  /** Null if nothing is stored on disk. */
  dataFolder: string | null;
  /** Null if there is no log file. */
  logFolder: string | null;
  /** Node's version, such as `24.1.0`. */
  node: string;
  /** Operating system and architecture, such as `linux x64`. */
  platform: string;
}

/** How providers are reached from this machine. */
export interface NetworkView {
  ways: {
    provider: string;
    name: string;
    /** Where that is configured: on the provider, in the environment, in the operating system, or nowhere. */
    by: 'provider' | 'environment' | 'system' | 'nobody';
    /**
     * Host and port in the order in which they are tried; null for a direct connection. Empty if only unusable proxies
     * are configured.
     */
    proxies: (string | null)[];
    /** Configured proxies of unsupported kinds, such as `SOCKS5 proxy.example:1080`. */
    unusable: string[];
  }[];
  /** Whether the operating system's proxy settings are used; only the desktop program can read them. */
  asksSystem: boolean;
  /** The environment's NO_PROXY. */
  noProxy: string | null;
  authorities: {
    files: { path: string; certificates: number; problem: string | null }[];
    /** The number of certificates in the operating system's list; null if it is not used. */
    system: number | null;
    /** Why the operating system's list cannot be read. */
    problem: string | null;
  };
}
