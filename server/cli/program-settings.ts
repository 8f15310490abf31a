/**
 * Settings for programs that do not read their provider from the environment. They are passed in the way that each
 * program offers for a single run, so that its own configuration is not changed.
 */
import { basename } from 'node:path';
import type { ToolAccess } from './tool-environment.ts';

export interface ProgramSettings {
  /** Inserted before the program's own arguments. */
  parameters: readonly string[];
  env: Readonly<Record<string, string>>;
  file?: SettingsFile;
}

/** A file that the program reads, and the variable that contains its path. Contains no secret. */
interface SettingsFile {
  variable: string;
  name: string;
  text: string;
}

/** @param models the models that the key may use, for programs that cannot list them */
export function programSettings(command: string, access: ToolAccess, models: readonly string[]): ProgramSettings {
  switch (basename(command).replace(/\.(exe|cmd|ps1)$/i, '')) {
    case 'codex':
      return { parameters: codexParameters(access), env: {} };
    case 'opencode':
      return { parameters: [], env: { OPENCODE_CONFIG_CONTENT: opencodeSettings(access, models) } };
    case 'gemini':
      return { parameters: [], env: {}, file: geminiSettings };
    default:
      return { parameters: [], env: {} };
  }
}

/**
 * Gemini CLI 0.61 interprets GOOGLE_GEMINI_BASE_URL as an authentication type that it then refuses ("Invalid auth
 * method selected"), unless settings name one. System settings take precedence over the user's, which may select
 * Google's sign-in.
 */
const geminiSettings: SettingsFile = {
  variable: 'GEMINI_CLI_SYSTEM_SETTINGS_PATH',
  name: 'gemini-cli.json',
  text: JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }),
};

/** `-c KEY=VALUE` in TOML overrides `config.toml`; a JSON string is a TOML string. */
function codexParameters({ origin, model }: ToolAccess): string[] {
  const provider = `{ name = "Sluice", base_url = "${origin}/v1", env_key = "SLUICE_KEY", wire_api = "responses" }`;
  const settings = [
    'model_provider="sluice"',
    `model_providers.sluice=${provider}`,
    ...(model ? [`model=${JSON.stringify(model)}`] : []),
  ];
  return settings.flatMap((setting) => ['-c', setting]);
}

/** Merged over the other configuration files (opencode.ai/docs/config). */
function opencodeSettings({ origin, model }: ToolAccess, models: readonly string[]): string {
  const names = model ? [model, ...models] : models;
  const sluice = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Sluice',
    options: { baseURL: `${origin}/v1`, apiKey: '{env:SLUICE_KEY}' },
    models: Object.fromEntries(names.map((name) => [name, {}])),
  };
  return JSON.stringify({ provider: { sluice }, ...(model && { model: `sluice/${model}` }) });
}
