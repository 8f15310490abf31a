/**
 * `-c KEY=VALUE` overrides Codex's `config.toml` of user and project, and the file of a profile; only the managed
 * configuration outranks it. Source: developers.openai.com/codex/config-advanced; tried with 0.171.
 */
import { join } from 'node:path';
import { managedPath } from '../../connect/managed-paths.ts';
import { sectionOf } from '../../connect/merge-settings.ts';
import { rivalsOfCodex } from '../../connect/rival-settings.ts';
import { tomlFormat } from '../../connect/toml-format.ts';
import { isObject } from '../../contract/is-object.ts';
import { contrary, findOptions, type PreparedProgram, type ProgramContext, refuseOptions } from './program-context.ts';
import { outranked, readManaged, readProgramSettings } from './settings-files.ts';

const program = 'Codex';

export async function prepareCodex(context: ProgramContext): Promise<PreparedProgram> {
  const { parameters, access } = context;
  refuseOptions(program, parameters, ['--oss', '--local-provider']);
  const setting = findOptions(parameters, ['-c', '--config']).find(({ value = '' }) => leadsElsewhere(value));
  if (setting) throw contrary(program, `${setting.name} ${setting.value}`);
  await refuseManaged(context);
  // A TOML value; a JSON string is a TOML string.
  const provider = `{ name = "Sluice", base_url = "${access.origin}/v1", env_key = "SLUICE_KEY", wire_api = "responses", supports_websockets = false }`;
  const model = access.model && JSON.stringify(access.model);
  const settings = [
    'model_provider="sluice"',
    `model_providers.sluice=${provider}`,
    ...(model ? [`model=${model}`] : []),
    ...(await profileSettings(context, model)),
  ];
  return { parameters: [...settings.flatMap((each) => ['-c', each]), ...parameters], env: {} };
}

/** Up to version 0.130 or so, profiles are tables of `config.toml`, and outrank `-c`. */
async function profileSettings(context: ProgramContext, model: string | undefined): Promise<string[]> {
  const { present, home } = context;
  const path = join(present.CODEX_HOME || join(home, '.codex'), 'config.toml');
  const profiles = sectionOf(await readProgramSettings(context, path, tomlFormat), 'profiles');
  return Object.entries(profiles).flatMap(([name, profile]) => {
    if (!isObject(profile)) return [];
    const place = `profiles.${JSON.stringify(name)}`;
    return [
      ...(profile.model_provider === undefined ? [] : [`${place}.model_provider="sluice"`]),
      ...(profile.model === undefined || model === undefined ? [] : [`${place}.model=${model}`]),
    ];
  });
}

function leadsElsewhere(setting: string): boolean {
  const [key = ''] = setting.split('=');
  return /^\s*"?(model_provider|model_providers"?\.sluice\b.*|profile|profiles\..*model_provider|oss_provider)"?\s*$/.test(
    key,
  );
}

async function refuseManaged(context: ProgramContext): Promise<void> {
  const { access, platform, home, present } = context;
  const codexHome = present.CODEX_HOME || join(home, '.codex');
  const folder = platform === 'win32' ? codexHome : managedPath('codex', platform, present);
  const path = join(folder ?? '', 'managed_config.toml');
  const [rival] = rivalsOfCodex(await readManaged(context, path, tomlFormat), access);
  if (rival !== undefined) throw outranked({ program, path, setting: rival.join('.') });
}
