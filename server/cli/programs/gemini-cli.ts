/**
 * Gemini CLI takes address and key from the environment once settings name the sign-in by key; settings of user or
 * project may name Google's or Vertex's. Variables that are not set are read from the `.env` of a folder above, so those
 * that would lead elsewhere are set to values that do nothing. Tried with 0.61.
 */
import { dirname, join } from 'node:path';
import { jsonFormat } from '../../connect/json-format.ts';
import { sectionOf } from '../../connect/merge-settings.ts';
import type { PreparedProgram, ProgramContext } from './program-context.ts';
import { readProgramSettings, systemSettings } from './settings-files.ts';

const settings = {
  program: 'Gemini CLI',
  client: 'gemini-cli',
  variable: 'GEMINI_CLI_SYSTEM_SETTINGS_PATH',
  signIn: 'gemini-api-key',
  name: 'gemini-cli.json',
};

const switchedOff = {
  GOOGLE_GENAI_USE_VERTEXAI: 'false',
  GOOGLE_GENAI_USE_GCA: 'false',
  GOOGLE_API_KEY: '',
  GOOGLE_GENAI_API_VERSION: '',
  GEMINI_API_KEY_AUTH_MECHANISM: '',
  // May hold the header with the key.
  GEMINI_CLI_CUSTOM_HEADERS: '',
};

export async function prepareGeminiCli(context: ProgramContext): Promise<PreparedProgram> {
  const file = await systemSettings(context, settings, (system) => system);
  const warning = (await isRootsAlone(context, context.runFolder)) ? null : await otherSignIn(context);
  return { parameters: context.parameters, env: switchedOff, file, ...(warning !== null && { warning }) };
}

const writableByOthers = 0o022;

/**
 * Whether root alone can change the folder and all above it: from others, Gemini CLI takes no system settings, and so not
 * those of a run (google-gemini/gemini-cli#29115, of August 2026).
 */
async function isRootsAlone(context: Pick<ProgramContext, 'platform' | 'stat'>, folder: string): Promise<boolean> {
  if (context.platform === 'win32') return true;
  const facts = await context.stat(folder);
  if (facts && (facts.uid !== 0 || (facts.mode & writableByOthers) !== 0)) return false;
  const parent = dirname(folder);
  return parent === folder || isRootsAlone(context, parent);
}

/** What to do about a sign-in that the person's own settings name; null if that is the one by key, or none. */
async function otherSignIn(context: ProgramContext): Promise<string | null> {
  const { folder, home, present, runFolder } = context;
  // A project's settings outrank the person's.
  for (const place of [folder, present.GEMINI_CLI_HOME || home]) {
    const path = join(place, '.gemini/settings.json');
    const { selectedType } = sectionOf(await readProgramSettings(context, path, jsonFormat), 'security', 'auth');
    if (selectedType === settings.signIn) return null;
    if (typeof selectedType !== 'string') continue;
    return (
      `Gemini CLI may not use Sluice: ${path} names the sign-in "${selectedType.slice(0, 100)}", and versions since August 2026 skip ` +
      `the settings of this run, since ${runFolder} or a folder above it can be changed by others than root. ` +
      'Choose "Use Gemini API Key" in it (/auth), and start it again.'
    );
  }
  return null;
}
