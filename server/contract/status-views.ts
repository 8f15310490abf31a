/** What is shown of the program itself: what runs, for whom it is set up, on which machine and network. */
import type { Lock } from './lock.ts';
import type { Settings } from './settings.ts';

export type SecretStoreKind = 'keychain' | 'file' | 'memory';

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
  /** At this start the stored configuration could not be used, and another took its place; null: it could. */
  configReplaced: ReplacedConfig | null;
  settings: Settings;
  /** The demo provider runs now; whether it should is `settings.demo`. */
  demoIsRunning: boolean;
  /** Where secrets are kept, one line for a person; null until one was needed. */
  secretStore: string | null;
  /** The same in a word. */
  secretStoreKind: SecretStoreKind | null;
  ledger: LedgerHealthView;
  /** The latest since the start; null: there was none. */
  standstill: StandstillView | null;
  /** What a team has set here, and what of it cannot be changed. */
  team: { presets: TeamPresetView[]; locks: Lock[] };
}

export interface ReplacedConfig {
  /** The backup of the same revision, or an empty configuration. */
  by: 'backup' | 'nothing';
  /** Where the damaged file is now; null: it was missing. */
  movedTo: string | null;
}

export interface LedgerHealthView {
  ok: boolean;
  /** Rows that wait to be written. */
  pending: number;
  /** Rows that were lost. */
  dropped: number;
  lastError: string | null;
  /** Why the sums of budgets cannot be written to their own file; null if they can. */
  budgetsError: string | null;
  /**
   * Since the start the file was damaged or removed and another was begun; `movedTo` is where the damaged one is now.
   * `budgetsAreLost`: so were the sums of budgets that are kept beside it; budgets count from then on.
   */
  replaced: { movedTo: string | null; reason: string; budgetsAreLost: boolean } | null;
}

/** One piece of work kept everybody waiting for more than a second. */
export interface StandstillView {
  /** Unix milliseconds. */
  at: number;
  ms: number;
  /** What was worked on; null: no request of `/v1`. */
  request: { id: string; keyId: string; route: string } | null;
  /** Of all since the start. */
  count: number;
}

export interface TeamPresetView {
  /** `built-in`: into the program; `policy`: put on this machine by its administrator; `imported`: by a person. */
  source: 'built-in' | 'policy' | 'imported';
  name: string;
  organisation: string;
  contact: string | null;
  version: string | null;
}

export interface HostView {
  /** Null: nothing is kept. */
  dataFolder: string | null;
  /** Null: no log is written to a file. */
  logFolder: string | null;
  /** Of Node, such as `24.1.0`. */
  node: string;
  /** System and processor, such as `linux x64`. */
  platform: string;
}

/** How providers are reached from here. */
export interface NetworkView {
  ways: {
    provider: string;
    name: string;
    /** Who says so: the provider's own setting, the environment, the operating system, or nobody. */
    by: 'provider' | 'environment' | 'system' | 'nobody';
    /** Host and port in the order in which they are tried; null: directly. Empty: only what cannot be used is named. */
    proxies: (string | null)[];
    /** Named besides, and cannot be used, such as `SOCKS5 proxy.example:1080`. */
    unusable: string[];
  }[];
  /** Only the desktop can ask the operating system for its proxies. */
  asksSystem: boolean;
  /** Of the environment. */
  noProxy: string | null;
  authorities: {
    files: { path: string; certificates: number; problem: string | null }[];
    /** How many the operating system's list holds; null if it is not used. */
    system: number | null;
    /** Why it cannot be read. */
    problem: string | null;
  };
}
