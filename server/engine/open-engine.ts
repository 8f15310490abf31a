/**
 * Opens an engine on a claimed data folder: log, configuration, secrets and a gateway that does not listen yet. `serve`
 * and the desktop start it; other commands use it directly if no Sluice is running.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigStore, openConfigStore } from '../config/config-store.ts';
import { type DeclarativeConfig, loadDeclarativeConfig } from '../config/declarative.ts';
import { noManagedPresets, openManagedPresets, type PresetPlaces } from '../config/managed-preset.ts';
import { type ConfigPersistence, createConfPersistence } from '../config/persistence.ts';
import { openTeamMemory } from '../config/team-memory.ts';
import { type ClaimedFolder, removeLeftovers, unusable, unwritableNotice } from '../data-folder/claim-folder.ts';
import type { CassetteDeck } from '../exchange/cassette/cassette-companion.ts';
import { switchFastPaths } from '../ground/fast-paths.ts';
import { followFile } from '../ground/files/follow-file.ts';
import { type LogFile, openLogFile } from '../ground/files/log.ts';
import type { StartKeychainHelper } from '../secrets/keychain-process.ts';
import { openSecretStore } from '../secrets/open-secret-store.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import type { SharedStore } from '../store/postgres/open-shared.ts';
import { messageOf } from '../store/rules/failures.ts';
import type { Environment } from './environment.ts';
import { createGateway, type Gateway } from './gateway.ts';
import type { ReplicaPorts, TeamPorts } from './ports.ts';
import type { PeopleOptions } from './team.ts';

export interface EngineOptions {
  environment: Environment;
  /** How long to wait for a database that cannot be used yet. Default: not at all. */
  storeTimeoutMs?: number;
  /** For `env:NAME` references. */
  env: Readonly<Record<string, string | undefined>>;
  /** Replaces the data folder's configuration. */
  configFile?: string | undefined;
  /** Writes the data folder's `config.json`; default: with the `conf` package. */
  openPersistence?: (path: string) => ConfigPersistence;
  /** Runs keytar; default: a child process of Node. */
  startKeychainHelper?: StartKeychainHelper;
  /** Default: in the data folder. */
  logFolder?: string;
  windowFolders?: readonly string[];
  /** Possible locations of managed team presets; absent if there are none. */
  teamPresets?: PresetPlaces | undefined;
  listen?: { host?: string; port?: number };
  /** Sign-in of people; absent: none. */
  people?: PeopleOptions | undefined;
  /** Records requests, or answers them instead of providers. */
  cassette?: CassetteDeck | undefined;
  /** Counts limits together with other replicas. Absent: this process counts on its own. */
  openReplicaLimits?: ReplicaPorts['openReplicaLimits'];
  /** What gateways for teams add; absent in a build without it. */
  loadTeam?: TeamPorts['loadTeam'];
  /** Where secrets are stored; default: the data folder. */
  secretsFolder?: string | undefined;
  /** Whether to report where secrets are stored, if not in the keychain. */
  saysWhereSecretsAre?: boolean;
  /** Receives messages for the user, one line each, without secrets. */
  notice(line: string): void;
}

export interface Engine {
  gateway: Gateway;
  config: ConfigStore;
  logFile: LogFile;
  /** Reads a declarative configuration and the files with secrets again, and logs the result. Never rejects. */
  reload(): Promise<void>;
  /** Waits for running requests, closes everything and releases the folder. */
  close(drainMs?: number): Promise<void>;
}

/** If the configuration cannot be used, releases the folder and rejects with a GatewayError. */
export async function openEngine(
  { folder, lock, fallbackFolder }: ClaimedFolder,
  options: EngineOptions,
): Promise<Engine> {
  let shared: SharedStore | null = null;
  if (options.environment.fastPaths === false) switchFastPaths(false);
  try {
    folder.notices.forEach(options.notice);
    if (folder.problem === null) removeLeftovers(folder);
    const logFolder = options.logFolder ?? folder.logsPath;
    const logFile = openLogFile(logFolder);
    shared = await openShared(options, logFile);
    const declared = options.configFile ? await loadDeclarativeConfig(options.configFile) : undefined;
    const config = declared ?? shared?.config ?? (await openStoredConfig(folder.path, options));
    announce([...config.notices, ...config.removed], options, logFile);
    if (folder.problem !== null) {
      if (config.isFirstRun) throw unusable(folder.path, folder.problem);
      options.notice(unwritableNotice(folder));
    }
    const gateway = await createGateway({
      folders: {
        dataDir: folder.path,
        fallbackFolder,
        uploadFolder: folder.tmpPath,
        windowFolder: options.windowFolders?.find((path) => existsSync(join(path, 'index.html'))) ?? null,
        logFolder,
      },
      config,
      openSecrets: shared?.openSecrets ?? secretsOnDemand(options.secretsFolder ?? folder.path, options),
      env: options.env,
      proxies: options.environment.proxies,
      logging: {
        log: logFile.log,
        logPath: logFile.path,
        logRequest: logFile.logRequest,
        notice: options.notice,
      },
      replicas: { openStore: shared?.openStore, openReplicaLimits: options.openReplicaLimits },
      teams: {
        team: openTeam(folder.path, options, logFile),
        loadTeam: options.loadTeam,
        signIns: { dataDir: folder.path, ...secretOptions(options) },
        people: options.people && { ...options.people, openStore: shared?.openPeople },
      },
      ...(options.listen && { listen: options.listen }),
      cassette: options.cassette,
    });
    const reloadDeclared = declared && (() => reloadConfig(declared, options, logFile));
    const reload = async () => {
      await shared?.readAddress();
      await (reloadDeclared?.() ?? readSecrets(gateway, options, logFile));
    };
    const stopFollowing =
      options.configFile && reloadDeclared ? followFile(options.configFile, reloadDeclared) : () => {};
    const close = async (drainMs?: number) => {
      stopFollowing();
      try {
        await gateway.stop(drainMs);
        await shared?.close();
        await options.cassette?.close();
        logFile.log.info('stopped');
      } finally {
        // Otherwise, this process could not start the engine again.
        await lock.release();
        const { lostLines } = await logFile.close();
        if (lostLines > 0) options.notice(`${lostLines} lines of the log could not be written to ${logFile.path}.`);
      }
    };
    return { gateway, config, logFile, reload, close };
  } catch (error) {
    await shared?.close();
    await lock.release();
    throw error;
  }
}

/** Null if everything is in the data folder. Imported only if a database is named. */
async function openShared(options: EngineOptions, { log }: LogFile) {
  const { environment, env, storeTimeoutMs, saysWhereSecretsAre, notice } = options;
  const { store: address, passphrase, keyFile } = environment;
  if (address === undefined) return null;
  const { openSharedStore } = await import('../store/postgres/open-shared.ts');
  const shared = await openSharedStore({
    address,
    env,
    key: { passphrase, keyFile },
    timeoutMs: storeTimeoutMs,
    log,
    notice,
  });
  const { host, database } = shared.address;
  if (saysWhereSecretsAre) {
    notice(`Configuration, keys, jobs and ledger are in PostgreSQL at ${host}, database "${database}".`);
    notice((await shared.openSecrets()).description);
  }
  return shared;
}

function openStoredConfig(dataDir: string, { openPersistence = createConfPersistence }: EngineOptions) {
  return openConfigStore({ persistence: openPersistence(join(dataDir, 'config.json')) });
}

/** Also logged, because the desktop has no terminal. */
function announce(lines: readonly string[], { notice }: EngineOptions, { log }: LogFile): void {
  for (const line of lines) {
    log.warn(line);
    notice(line);
  }
}

async function readSecrets(gateway: Gateway, options: EngineOptions, logFile: LogFile): Promise<void> {
  try {
    await gateway.readSecrets();
    announce(['The files with secrets were read again.'], options, logFile);
  } catch (error) {
    announce([`The files with secrets could not be read again: ${messageOf(error)}`], options, logFile);
  }
}

async function reloadConfig(declared: DeclarativeConfig, options: EngineOptions, logFile: LogFile): Promise<void> {
  const { host, port } = declared.current.config.settings;
  const told = declared.removed;
  try {
    const { config, revision } = await declared.reload();
    announce(
      declared.removed.filter((line) => !told.includes(line)),
      options,
      logFile,
    );
    const isMoved = config.settings.host !== host || config.settings.port !== port;
    const note = isMoved ? ' Its host and port take effect at the next start.' : '';
    announce([`The configuration was read again and is in force (revision ${revision}).${note}`], options, logFile);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    announce([`${reason} The configuration before it stays in force.`], options, logFile);
  }
}

function openTeam(dataDir: string, options: EngineOptions, { log }: LogFile): NonNullable<TeamPorts['team']> {
  const { teamPresets } = options;
  // Also logged, because the desktop has no terminal and a policy may change later.
  const notice = (line: string) => {
    log.warn(line);
    options.notice(line);
  };
  return {
    managed: teamPresets ? openManagedPresets(teamPresets, notice) : noManagedPresets,
    memory: openTeamMemory(join(dataDir, 'team-presets.json'), notice),
  };
}

/** Opens the secret store on first use, and then reports its kind. */
function secretsOnDemand(dataDir: string, options: EngineOptions): () => Promise<SecretStore> {
  const { notice } = options;
  let opened: Promise<SecretStore> | undefined;
  const open = async () => {
    const { store, choice, notices, removeSuperseded } = await openSecretStore({ dataDir, ...secretOptions(options) });
    await removeSuperseded();
    if (choice !== null && options.saysWhereSecretsAre) notice(choice);
    notices.forEach(notice);
    return store;
  };
  return () => {
    opened ??= open().catch((error: unknown) => {
      // A locked keychain may have been unlocked by the next call.
      opened = undefined;
      throw error;
    });
    return opened;
  };
}

function secretOptions({ environment: { passphrase, secrets, sessionBus }, startKeychainHelper }: EngineOptions) {
  return { passphrase, prefer: secrets, sessionBus, startKeychainHelper };
}
