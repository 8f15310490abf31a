/**
 * Gemini CLI takes address and key from the environment once settings name the sign-in by key; settings of user or
 * project may name Google's or Vertex's. Variables that are not set are read from the `.env` of a folder above, so those
 * that would lead elsewhere are set to values that do nothing. Tried with 0.61.
 */
import type { PreparedProgram, ProgramContext } from './program-context.ts';
import { systemSettings } from './system-settings.ts';

const settings = {
  program: 'Gemini CLI',
  variable: 'GEMINI_CLI_SYSTEM_SETTINGS_PATH',
  usual: {
    darwin: '/Library/Application Support/GeminiCli/settings.json',
    win32: 'C:\\ProgramData\\gemini-cli\\settings.json',
    linux: '/etc/gemini-cli/settings.json',
  },
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
  return { parameters: context.parameters, env: switchedOff, file };
}
