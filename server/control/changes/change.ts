import type { TeamMemory } from '../../config/team-memory.ts';
import type { CommandMap, CommandResults, CommandType } from '../../contract/commands.ts';
import type { Config } from '../../contract/config.ts';
import type { Person } from '../../contract/people.ts';
import type { Preset } from '../../contract/preset.ts';
import type { ProviderChanges } from '../../contract/provider-commands.ts';
import type { TeamPreset } from '../../contract/team-preset.ts';
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
