/** What the engine needs from outside: everything that differs between the desktop, a terminal and a test. */
import type { Logger } from 'pino';
import type { ConfigStore } from './config/config-store.ts';
import type { ManagedPresets } from './config/managed-preset.ts';
import type { TeamMemoryStore } from './config/team-memory.ts';
import type { LogRequest } from './log.ts';
import type { SecretStore } from './secrets/secret-store.ts';
import type { ProxySettings } from './transport/proxy-choice.ts';
import type { Api } from './wire/api.ts';

export interface GatewayPorts {
  /** Prepared by the caller (`data-folder/data-folder.ts`); null keeps ledger and jobs in memory, for tests. */
  dataDir: string | null;
  /** Private and writable where the data folder is not; null or absent: there is none. */
  fallbackFolder?: string | null;
  /** Where uploads are spooled; exists and is private. */
  uploadFolder: string;
  config: ConfigStore;
  /** Opened on first need: where no secret is asked of it, a keychain costs nothing. */
  openSecrets: () => Promise<SecretStore>;
  /** For `env:NAME` references. */
  env: Readonly<Record<string, string | undefined>>;
  proxies: ProxySettings;
  log: Logger;
  /** Where its file is, for a person to look into; absent: there is none. */
  logFolder?: string;
  /** The log's file, for what has to be told while the program stands still; absent: there is none. */
  logPath?: string;
  /** Told of each request that has ended. */
  logRequest: LogRequest;
  /** Told what a person should know at the start, a line each; no secrets. */
  notice?: (line: string) => void;
  /** Team presets that count here; absent: there is none, and what is imported is forgotten at the end. */
  team?: { managed: ManagedPresets; memory: TeamMemoryStore };
  /** Folder of the built window; null if there is none. */
  windowFolder: string | null;
  /** That clients may speak; absent: OpenAI's. */
  apis?: readonly [Api, ...Api[]];
  /** In place of the configuration's. */
  listen?: { host?: string; port?: number };
}
