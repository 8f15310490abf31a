import type { ConfigStore } from '../../config/config-store.ts';
import type { TeamMemory, TeamMemoryStore } from '../../config/team-memory.ts';
import type { CommandMap, CommandResults, CommandType } from '../../contract/commands.ts';
import type { Config } from '../../contract/config.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Person } from '../../contract/people.ts';
import type { Preset } from '../../contract/preset.ts';
import type { ProviderChanges } from '../../contract/provider-commands.ts';
import type { TeamPreset } from '../../contract/team-preset.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import type { LiveConfig } from '../live/live-config.ts';
import type { Views } from '../views/views.ts';

/** The effect of a command on a configuration. `execute.ts` carries it out. */
export interface Change<Result> {
  config: Config;
  /** Stored before the configuration, so that it never refers to a missing secret. */
  storeBefore?: readonly { name: string; value: string }[];
  /** Names of secrets deleted before the configuration is stored; restored if that fails. */
  deleteBefore?: readonly string[];
  /** Replaces the imported preset in force; null removes it. */
  importedPreset?: TeamPreset | null;
  /** Origin of the team gateway that offered `importedPreset`. */
  presetGateway?: string | undefined;
  /** Names of secrets deleted after the configuration is stored. */
  deleteAfter?: readonly string[];
  /** A credential that was entered again. Its health is reset even if the value is the same. */
  renewed?: { provider: string; credential: string };
  /** Called once the new configuration is in force. */
  result(done: { revision: number; views: Views }): Result;
}

/** Further inputs of changes. */
export interface ChangeContext {
  /** Unix milliseconds. */
  now(): number;
  createKeySecret(): string;
  /** For keys of people: random, so that ids disclose nothing about other keys. */
  createKeyId(): string;
  /** The caller; null: the administrator of this machine. */
  by: Person | null;
  /** Sluice's own addresses: `127.0.0.1:4810`. */
  ownAddresses: ReadonlySet<string>;
  /** A variable of Sluice's own environment. */
  variable(name: string): string | undefined;
  /** The values of a preset; undefined if there is no preset with this id. */
  preset(id: string): ProviderChanges | undefined;
  /** All presets. */
  presets(): readonly Preset[];
  /** The imported team preset in force, and the origin of the team gateway that offered it. */
  imported(): Pick<TeamMemory, 'imported' | 'gateway'>;
}

export type Changer<T extends CommandType> = (
  config: Config,
  command: CommandMap[T],
  context: ChangeContext,
) => Change<CommandResults[T]>;

// Stores a change and brings it into force: secrets first, then the configuration, deletions last. A crash in between
// may leave an unused secret, but never a configuration that refers to a missing one.

interface StorePorts {
  config: ConfigStore;
  openSecrets: () => Promise<SecretStore>;
  live: LiveConfig;
  team: { memory: TeamMemoryStore };
  log: { warn(fields: object, message: string): void };
}

type StoredChange = Omit<Change<unknown>, 'result'> & { team?: TeamMemory };

const mostAttempts = 10;

/** Plans and stores a change anew if another replica has committed a revision in the meantime. */
export async function onLatestRevision<Result>(planAndStore: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await planAndStore();
    } catch (error) {
      const isPassed = error instanceof GatewayError && error.problem?.code === 'changed-meanwhile';
      if (!isPassed || attempt === mostAttempts) throw error;
    }
  }
}

/** Resolves with the new revision once it is in force. If it could not be stored, rejects with nothing changed. */
export async function storeChange(ports: StorePorts, change: StoredChange, revision: number): Promise<number> {
  const committed = await commitWithSecrets(ports, change, revision);
  await ports.live.inForce();
  await deleteSecrets(ports, change.deleteAfter ?? []);
  return committed;
}

async function commitWithSecrets(ports: StorePorts, change: StoredChange, revision: number): Promise<number> {
  const undo: (() => Promise<void>)[] = [];
  try {
    for (const { name, value } of secretWrites(change)) {
      const store = await ports.openSecrets();
      const old = await store.get(name);
      undo.push(() => put(store, name, old));
      await put(store, name, value);
    }
    await rememberTeam(ports.team.memory, change, undo);
    return (await ports.config.commit(change.config, revision)).revision;
  } catch (error) {
    for (const step of undo) await step().catch(() => ports.log.warn({}, 'a part of a failed change is left over'));
    throw error;
  }
}

function secretWrites({
  storeBefore = [],
  deleteBefore = [],
}: StoredChange): { name: string; value: string | undefined }[] {
  return [...storeBefore, ...deleteBefore.map((name) => ({ name, value: undefined }))];
}

function put(store: SecretStore, name: string, value: string | undefined): Promise<void> {
  return value === undefined ? store.delete(name) : store.set(name, value);
}

/** Stored before the configuration, because the event of the configuration change includes the locks. */
async function rememberTeam(
  memory: TeamMemoryStore,
  { team, importedPreset, presetGateway }: StoredChange,
  undo: (() => Promise<void>)[],
): Promise<void> {
  const old = memory.current;
  const next = team ?? withImported(old, importedPreset, presetGateway);
  if (next === old) return;
  await memory.write(next);
  undo.push(() => memory.write(old));
}

/** `imported`: undefined changes nothing. */
function withImported(
  memory: TeamMemory,
  imported: TeamMemory['imported'] | undefined,
  gateway: string | undefined,
): TeamMemory {
  if (imported === undefined) return memory;
  return { applied: memory.applied, imported, ...(gateway !== undefined && { gateway }) };
}

/** Failures are only logged: nothing refers to these secrets any more. */
async function deleteSecrets(ports: StorePorts, names: readonly string[]): Promise<void> {
  for (const name of names) {
    try {
      await (await ports.openSecrets()).delete(name);
    } catch (error) {
      ports.log.warn({ name, error }, 'a secret could not be deleted');
    }
  }
}
