import type { CommandMap, CommandResults, CommandType, ProviderChanges } from '../contract/commands.ts';
import type { Config } from '../contract/config.ts';
import type { Views } from './views.ts';

/** What a command makes of a configuration. Making one touches nothing: `execute.ts` carries it out. */
export interface Change<Result> {
  config: Config;
  /** Stored before the configuration, so that it never refers to nothing. */
  save?: readonly { name: string; value: string }[];
  /** Names of secrets that are deleted after it. */
  forget?: readonly string[];
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
  /** What a preset fills in; undefined if there is none of that id. */
  preset(id: string): ProviderChanges | undefined;
}

export type Changer<T extends CommandType> = (
  config: Config,
  command: CommandMap[T],
  context: ChangeContext,
) => Change<CommandResults[T]>;
