/**
 * An engine on a data folder that is claimed: opens its log, configuration and secrets, and puts a gateway on them that
 * does not listen yet. `serve` and the desktop start it; a verb that finds no running Sluice uses it as it is.
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
  /** In place of the data folder's configuration. */
  configFile?: string | undefined;
  /** Writes the data folder's `config.json`; absent: the `conf` package does. */
  openPersistence?: (path: string) => ConfigPersistence;
  /** Runs keytar; absent: a child process that is Node. */
  startKeytar?: StartKeytar;
  /** In place of the data folder's own. */
  logFolder?: string;
  windowFolders?: readonly string[];
  /** Of team presets that nobody imports; absent: there are none. */
  teamPresets?: PresetPlaces | undefined;
  listen?: { host?: string; port?: number };
  /** A notice tells where secrets are, if that is not the keychain. */
  saysWhereSecretsAre?: boolean;
  /** Told what a person should know, a line each; no secrets. */
  notice(line: string): void;
}

export interface Engine {
  gateway: Gateway;
  config: ConfigStore;
  logFile: LogFile;
  /** Lets requests end, closes everything and gives the folder back. */
  close(drainMs?: number): Promise<void>;
}

/** Rejects with a GatewayError if the configuration cannot be used; the folder is then given back. */
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
    // A desktop has no terminal.
    log.warn(line);
    notice(line);
  }
  return config;
}

function openTeam(dataDir: string, options: EngineOptions, { log }: LogFile): NonNullable<GatewayPorts['team']> {
  const { teamPresets } = options;
  // A desktop has no terminal, and a policy may change long after the start.
  const notice = (line: string) => {
    log.warn(line);
    options.notice(line);
  };
  return {
    managed: teamPresets ? openManagedPresets(teamPresets, notice) : noManagedPresets,
    memory: openTeamMemory(join(dataDir, 'team-presets.json'), notice),
  };
}

/** A keychain is asked only where a secret is; that it was opened, and which, is told then. */
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
      // A keychain that was locked may open the next time.
      opened = undefined;
      throw error;
    });
    return opened;
  };
}
