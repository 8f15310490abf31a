/**
 * Settings for programs that do not take their provider from the environment: passed by what each offers for one run, so that
 * its own configuration stays as it is.
 */
import { basename } from 'node:path';
import type { ToolAccess } from './tool-environment.ts';

export interface ProgramSettings {
  /** To be put before the program's own arguments. */
  parameters: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** @param models the names that the key may use, for programs that cannot list them */
export function programSettings(command: string, access: ToolAccess, models: readonly string[]): ProgramSettings {
  const name = basename(command).replace(/\.(exe|cmd|ps1)$/i, '');
  if (name === 'codex') return { parameters: codexParameters(access), env: {} };
  if (name === 'opencode')
    return { parameters: [], env: { OPENCODE_CONFIG_CONTENT: opencodeSettings(access, models) } };
  return { parameters: [], env: {} };
}

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
