/**
 * OPENCODE_CONFIG_CONTENT is merged over all of opencode's configuration files and agents but the managed ones. With
 * Sluice as the only provider, an agent or an argument that names another one ends with an error. Source:
 * opencode.ai/docs/config; tried with 1.18.
 */
import { join } from 'node:path';
import { jsonFormat } from '../../connect/json-format.ts';
import { managedPath } from '../../connect/managed-paths.ts';
import { type ClientSettings, mergeSettings, sectionOf } from '../../connect/merge-settings.ts';
import { contrary, findOptions, type PreparedProgram, type ProgramContext, refuseOptions } from './program-context.ts';
import { outranked, readManaged } from './settings-files.ts';

const program = 'opencode';
const variable = 'OPENCODE_CONFIG_CONTENT';
/** Any of them may name a model of its own. */
const builtInAgents = ['build', 'plan', 'general', 'explore', 'title', 'summary', 'compaction'];

export async function prepareOpencode(context: ProgramContext): Promise<PreparedProgram> {
  const { parameters, present } = context;
  // The server decides what is asked.
  refuseOptions(program, parameters, ['--attach']);
  const other = findOptions(parameters, ['--model', '-m']).find(({ value = '' }) => !value.startsWith('sluice/'));
  if (other) throw contrary(program, `${other.name} ${other.value} (Sluice's models begin with "sluice/")`);
  await refuseManaged(context);
  const own = await readManaged({ readFile: async () => present[variable] ?? '' }, variable, jsonFormat);
  return { parameters, env: { [variable]: JSON.stringify(mergeSettings(own, settingsFor(context))) } };
}

function settingsFor({ access: { origin, model }, models }: ProgramContext): ClientSettings {
  const names = model ? [model, ...models] : models;
  const sluice = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Sluice',
    options: { baseURL: `${origin}/v1`, apiKey: '{env:SLUICE_KEY}' },
    models: Object.fromEntries(names.map((name) => [name, {}])),
  };
  const only = { provider: { sluice }, enabled_providers: ['sluice'], disabled_providers: [] };
  if (!model) return only;
  const chosen = { model: `sluice/${model}` };
  const agent = Object.fromEntries(builtInAgents.map((name) => [name, chosen]));
  return { ...only, ...chosen, small_model: chosen.model, agent };
}

async function refuseManaged(context: ProgramContext): Promise<void> {
  const folder = managedPath('opencode', context.platform, context.present) ?? '';
  for (const path of ['opencode.json', 'opencode.jsonc'].map((name) => join(folder, name))) {
    const setting = contrarySetting(await readManaged(context, path, jsonFormat), context.access.model);
    if (setting !== null) throw outranked({ program, path, setting });
  }
}

function contrarySetting(settings: ClientSettings, model: string | undefined): string | null {
  const { enabled_providers: enabled, disabled_providers: disabled } = settings;
  if (Array.isArray(enabled) && enabled.join() !== 'sluice') return 'enabled_providers';
  if (Array.isArray(disabled) && disabled.includes('sluice')) return 'disabled_providers';
  if (Object.keys(sectionOf(settings, 'provider', 'sluice')).length > 0) return 'provider.sluice';
  const isContrary = (name: string) => settings[name] !== undefined && settings[name] !== `sluice/${model}`;
  return (model === undefined ? [] : ['model', 'small_model']).find(isContrary) ?? null;
}
