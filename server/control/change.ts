import type { CommandMap, CommandResults, CommandType, ProviderChanges } from '../contract/commands.ts';
import type { Config } from '../contract/config.ts';
import type { TeamPreset } from '../contract/team-preset.ts';
import type { Views } from './views.ts';

/** What a command makes of a configuration. Making one touches nothing: `execute.ts` carries it out. */
export interface Change<Result> {
  config: Config;
  /** Stored before the configuration, so that it never refers to nothing. */
  storeBefore?: readonly { name: string; value: string }[];
  /** Names of secrets that are deleted before it, so that it never finds them; they are put back if it cannot be stored. */
  deleteBefore?: readonly string[];
  /** Counts from then on in place of the one that was imported before. */
  importedPreset?: TeamPreset;
  /** Names of secrets that are deleted after it. */
  deleteAfter?: readonly string[];
  /** A credential that was given anew: what was held against it no longer counts, be its value the same. */
  renewed?: { provider: string; credential: string };
  /** Asked once the new configuration is in force. */
  result(done: { revision: number; views: Views }): Result;
}

/** What changes need to know besides the configuration. */
export interface ChangeContext {
  /** Unix milliseconds. */
  now(): number;
  createKeySecret(): string;
  /** Addresses that are Sluice itself: `127.0.0.1:4810`. */
  ownAddresses: ReadonlySet<string>;
  /** A variable of Sluice's own environment. */
  variable(name: string): string | undefined;
  /** What a preset fills in; undefined if there is none of that id. */
  preset(id: string): ProviderChanges | undefined;
}

export type Changer<T extends CommandType> = (
  config: Config,
  command: CommandMap[T],
  context: ChangeContext,
) => Change<CommandResults[T]>;
