/** Finds options among a program's arguments. */
import { CliError, exitCodes } from './exit-codes.ts';

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
