/** Reads settings files of programs, and refuses those that outrank a run. */

import { jsonFormat } from '../../connect/json-format.ts';
import { managedPath } from '../../connect/managed-paths.ts';
import { type ClientSettings, type ConfigFormat, mergeSettings, sectionOf } from '../../connect/merge-settings.ts';
import { CliError } from './exit-codes.ts';
import type { ProgramContext, RunFile } from './program-context.ts';

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

interface SystemSettings {
  program: string;
  /** The id of its guide. */
  client: string;
  variable: string;
  /** The type of sign-in that uses Sluice. */
  signIn: string;
  name: string;
}

/**
 * Gemini CLI and Qwen Code, its fork, read system settings that outrank those of user and project, from a path that a
 * variable can name. A run gets a copy of the machine's own with its provider in it.
 */
export async function systemSettings(
  context: ProgramContext,
  { program, client, variable, signIn, name }: SystemSettings,
  added: (system: ClientSettings) => ClientSettings,
): Promise<RunFile> {
  const path = managedPath(client, context.platform, context.present) ?? '';
  const system = await readManaged(context, path, jsonFormat);
  const { enforcedType = signIn } = sectionOf(system, 'security', 'auth');
  if (enforcedType !== signIn) throw outranked({ program, path, setting: 'security.auth.enforcedType' });
  const auth = { selectedType: signIn, enforcedType: signIn, useExternal: false };
  const model = context.access.model ? { model: { name: context.access.model } } : {};
  const settings = added(mergeSettings(system, { security: { auth }, ...model }));
  return { name, text: JSON.stringify(settings), by: { variable } };
}
