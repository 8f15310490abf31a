/** Reads settings files of programs, and refuses those that outrank a run. */
import type { ClientSettings, ConfigFormat } from '../../connect/config-format.ts';
import { CliError } from './exit-codes.ts';
import type { ProgramContext } from './program-context.ts';

type Reader = Pick<ProgramContext, 'readFile'>;

/** Empty if there is no such file, or if it is none that the program could read. */
export async function readProgramSettings(
  { readFile }: Reader,
  path: string,
  format: ConfigFormat,
): Promise<ClientSettings> {
  const text = await readFile(path).catch(() => null);
  try {
    return text === null ? {} : format.parse(text);
  } catch {
    return {};
  }
}

/** Rejects with a CliError if the file exists and cannot be read, because it may hold rules of an administrator. */
export async function readManaged({ readFile }: Reader, path: string, format: ConfigFormat): Promise<ClientSettings> {
  try {
    const text = await readFile(path);
    return text === null ? {} : format.parse(text);
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

interface Outranking {
  program: string;
  path: string;
  setting: string;
}

/** The refusal of a run that a setting would lead past Sluice, since it outranks all that a run can set. */
export function outranked({ program, path, setting }: Outranking): CliError {
  return new CliError(
    `${path} sets ${setting}, which outranks this run: ${program} would not use Sluice. ` +
      `Remove the setting, or ask whoever manages that file to do so or to lead it to Sluice.`,
  );
}
