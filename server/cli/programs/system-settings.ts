/**
 * Gemini CLI and Qwen Code, its fork, read system settings that outrank those of user and project, from a path that a
 * variable can name. A run gets a copy of the machine's own with its provider in it.
 */

import type { ClientSettings } from '../../connect/config-format.ts';
import { jsonFormat } from '../../connect/json-format.ts';
import { managedPath } from '../../connect/managed-paths.ts';
import { mergeSettings, sectionOf } from '../../connect/merge-settings.ts';
import type { ProgramContext, RunFile } from './program-context.ts';
import { outranked, readManaged } from './settings-files.ts';

interface SystemSettings {
  program: string;
  /** The id of its guide. */
  client: string;
  variable: string;
  /** The type of sign-in that uses Sluice. */
  signIn: string;
  name: string;
}

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
