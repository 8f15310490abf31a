/** What the preparation of a program starts from, and what it results in. */
import type { ToolAccess, Variables } from './tool-environment.ts';

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
