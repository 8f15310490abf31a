/**
 * Opens an engine on a claimed data folder: log, configuration, secrets and a gateway that does not listen yet. `serve` and
 * the desktop start it; other commands use it directly if no Sluice is running.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openConfPersistence } from './config/conf-persistence.ts';
import { type ConfigStore, openConfigStore } from './config/config-store.ts';
import { loadDeclarativeConfig } from './config/declarative.ts';
import { noManagedPresets, openManagedPresets, type PresetPlaces } from './config/managed-preset.ts';
import type { ConfigPersistence } from './config/persistence.ts';
import { openTeamMemory } from './config/team-memory.ts';
import type { ClaimedFolder } from './data-folder/claim-folder.ts';
import { removeLeftovers, unusable, unwritableNotice } from './data-folder/data-folder.ts';
import type { Environment } from './environment.ts';
import { createGateway, type Gateway } from './gateway.ts';
import type { GatewayPorts } from './gateway-ports.ts';
import { type LogFile, openLogFile } from './log.ts';
import type { StartKeytar } from './secrets/keychain-process.ts';
import { openSecretStore } from './secrets/open-secret-store.ts';
import type { SecretStore } from './secrets/secret-store.ts';

export interface EngineOptions {
  environment: Environment;
  /** For `env:NAME` references. */
  env: Readonly<Record<string, string | undefined>>;
  /** Replaces the data folder's configuration. */
  configFile?: string | undefined;
  /** Writes the data folder's `config.json`; default: with the `conf` package. */
  openPersistence?: (path: string) => ConfigPersistence;
  /** Runs keytar; default: a child process of Node. */
  startKeytar?: StartKeytar;
  /** Default: in the data folder. */
  logFolder?: string;
  windowFolders?: readonly string[];
  /** Where managed team presets may be; absent: none. */
  teamPresets?: PresetPlaces | undefined;
  listen?: { host?: string; port?: number };
  /** Whether a notice says where secrets are stored, if not in the keychain. */
  saysWhereSecretsAre?: boolean;
  /** Receives messages for the user, one line each; no secrets. */
  notice(line: string): void;
}

export interface Engine {
  gateway: Gateway;
  config: ConfigStore;
  logFile: LogFile;
  /** Waits for running requests, closes everything and releases the folder. */
  close(drainMs?: number): Promise<void>;
}

/** Rejects with a GatewayError and releases the folder if the configuration cannot be used. */
export async function openEngine(
  { folder, lock, fallbackFolder }: ClaimedFolder,
  options: EngineOptions,
): Promise<Engine> {
  try {
    folder.notices.forEach(options.notice);
    if (folder.problem === null) removeLeftovers(folder);
    const logFolder = options.logFolder ?? folder.logsPath;
    const logFile = openLogFile(logFolder);
    const config = await openConfig(folder.path, options, logFile);
    if (folder.problem !== null) {
      if (config.isFirstRun) throw unusable(folder.path, folder.problem);
      options.notice(unwritableNotice(folder));
    }
    const gateway = await createGateway({
      dataDir: folder.path,
      fallbackFolder,
      uploadFolder: folder.tmpPath,
      config,
      openSecrets: secretsOnDemand(folder.path, options),
      env: options.env,
      proxies: options.environment.proxies,
      log: logFile.log,
      logFolder,
      logPath: logFile.path,
      logRequest: logFile.logRequest,
      notice: options.notice,
      team: openTeam(folder.path, options, logFile),
      windowFolder: options.windowFolders?.find((path) => existsSync(join(path, 'index.html'))) ?? null,
      ...(options.listen && { listen: options.listen }),
    });
    const close = async (drainMs?: number) => {
      await gateway.stop(drainMs);
      await lock.release();
      logFile.log.info('stopped');
      logFile.flush();
    };
    return { gateway, config, logFile, close };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openConfig(dataDir: string, options: EngineOptions, { log }: LogFile): Promise<ConfigStore> {
  const { configFile, openPersistence = openConfPersistence, notice } = options;
  const config = configFile
    ? await loadDeclarativeConfig(configFile)
    : await openConfigStore({ persistence: openPersistence(join(dataDir, 'config.json')) });
  for (const line of config.notices) {
    // Logged as well, since the desktop has no terminal.
    log.warn(line);
    notice(line);
  }
  return config;
}

function openTeam(dataDir: string, options: EngineOptions, { log }: LogFile): NonNullable<GatewayPorts['team']> {
  const { teamPresets } = options;
  // Logged as well, since the desktop has no terminal and a policy may change later.
  const notice = (line: string) => {
    log.warn(line);
    options.notice(line);
  };
  return {
    managed: teamPresets ? openManagedPresets(teamPresets, notice) : noManagedPresets,
    memory: openTeamMemory(join(dataDir, 'team-presets.json'), notice),
  };
}

/** Opens the secret store on first use, and reports then which one it is. */
function secretsOnDemand(dataDir: string, options: EngineOptions): () => Promise<SecretStore> {
  const { environment, startKeytar, notice } = options;
  let opened: Promise<SecretStore> | undefined;
  const open = async () => {
    const { passphrase, secrets } = environment;
    const { store, choice, notices } = await openSecretStore({ dataDir, passphrase, prefer: secrets, startKeytar });
    if (choice !== null && options.saysWhereSecretsAre) notice(choice);
    notices.forEach(notice);
    return store;
  };
  return () => {
    opened ??= open().catch((error: unknown) => {
      // A locked keychain may be unlocked the next time.
      opened = undefined;
      throw error;
    });
    return opened;
  };
}
