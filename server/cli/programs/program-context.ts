/** What the preparation of a program starts from, and what it results in. */
import type { ToolAccess, Variables } from '../../connect/tool-environment.ts';
import { CliError, exitCodes } from './exit-codes.ts';

export interface ProgramContext {
  access: ToolAccess;
  /** The models that the key may use, for programs that cannot list them. */
  models: readonly string[];
  /** Resolves with the model to use where the person has named none; rejects with a CliError if there is no obvious one. */
  usualModel(): Promise<string>;
  /** The arguments that the person has given. */
  parameters: readonly string[];
  /** The environment before it leads to Sluice. */
  present: Variables;
  home: string;
  /** The working directory. */
  folder: string;
  platform: NodeJS.Platform;
  /** Resolves with null if there is no such file. */
  readFile(path: string): Promise<string | null>;
  /** Where the file of this run will be. */
  runFolder: string;
  /** Whose the file or folder is and who may change it; null if it is not there. */
  stat(path: string): Promise<{ uid: number; mode: number } | null>;
  /** The names of the files in it; empty if there is no such folder. */
  listFolder(path: string): Promise<readonly string[]>;
}

export interface PreparedProgram {
  /** All arguments of the program. */
  parameters: readonly string[];
  /** Besides those that lead any program to Sluice. */
  env: Readonly<Record<string, string>>;
  /** Exists as long as the program runs. */
  file?: RunFile;
  /** Told before the program starts: why it may not use Sluice. */
  warning?: string;
}

/** A file for this run, readable by its owner only. */
export interface RunFile {
  name: string;
  text: string;
  /** The variable, or the argument, by which the program gets its path. */
  by: { variable: string } | { option: string };
}

interface FoundOption {
  /** As it is written: `--config`. */
  name: string;
  /** The next argument if it is not written with `=`; undefined if there is none. */
  value: string | undefined;
  index: number;
  /** The number of arguments that it consists of, if it takes a value. */
  length: 1 | 2;
}

/** All uses of the options, up to `--`. Short options may be followed by their value: `-cKEY=VALUE`. */
export function findOptions(parameters: readonly string[], names: readonly string[]): FoundOption[] {
  const end = parameters.indexOf('--');
  const options = end === -1 ? parameters : parameters.slice(0, end);
  return options.flatMap((written, index): FoundOption[] => {
    const name = names.find(
      (each) => written === each || written.startsWith(each.startsWith('--') ? `${each}=` : each),
    );
    if (name === undefined) return [];
    if (written === name) return [{ name, value: options[index + 1], index, length: 2 }];
    return [{ name, value: written.slice(name.length).replace(/^=/, ''), index, length: 1 }];
  });
}

/** The arguments without an option and its value. */
export function withoutOption(parameters: readonly string[], { index, length }: FoundOption): string[] {
  return parameters.toSpliced(index, length);
}

/** @throws CliError if the person names a provider of the program that is not Sluice */
export function refuseOptions(program: string, parameters: readonly string[], names: readonly string[]): void {
  const [found] = findOptions(parameters, names);
  if (found) throw contrary(program, found.name);
}

/** The refusal of an argument that would lead past Sluice. */
export function contrary(program: string, argument: string): CliError {
  const text = `${program} would not use Sluice with ${argument}. Leave it out, or start ${program} without "sluice run".`;
  return new CliError(text, exitCodes.usage);
}
