/**
 * Aider lets `.env` files override the environment, `.aider.conf.yml` choose address and models, and
 * `.aider.model.settings.yml` give an address for each model. Arguments outrank the first two, and
 * `aider/extra_params` of the file named last the third. Source: aider/main.py and models.py; tried with 0.86.
 */
import { dirname, join, resolve } from 'node:path';
import { type ClientSettings, mergeSettings } from '../../connect/merge-settings.ts';
import { yamlListFormat } from '../../connect/yaml-format.ts';
import { isObject } from '../../contract/is-object.ts';
import {
  contrary,
  findOptions,
  type PreparedProgram,
  type ProgramContext,
  refuseOptions,
  withoutOption,
} from './program-context.ts';
import { readProgramSettings } from './settings-files.ts';

const program = 'Aider';
const modelOptions = ['--model', '--weak-model', '--editor-model'];
const settingsOption = '--model-settings-file';

export async function prepareAider(context: ProgramContext): Promise<PreparedProgram> {
  const { access, parameters } = context;
  refuseOptions(program, parameters, ['--openai-api-base', '--openai-api-key']);
  const given = findOptions(parameters, modelOptions);
  const other = given.find(({ value = '' }) => !value.startsWith('openai/'));
  if (other) throw contrary(program, `${other.name} ${other.value} (Sluice's models begin with "openai/")`);
  const main = given.find(({ name }) => name === '--model')?.value;
  const model = main ?? `openai/${access.model ?? (await context.usualModel())}`;
  const missing = modelOptions.filter((name) => !given.some((each) => each.name === name));
  const [own] = findOptions(parameters, [settingsOption]).toReversed();
  const text = JSON.stringify(await modelSettings(context, own?.value), null, 1);
  return {
    parameters: [
      ...['--openai-api-base', `${access.origin}/v1`, ...missing.flatMap((name) => [name, model])],
      // An alias among the arguments replaces those of the configuration, which may stand for this very model.
      ...['--alias', `sluice:${model}`],
      ...(own ? withoutOption(parameters, own) : parameters),
    ],
    env: {},
    file: { name: 'aider-models.yml', text, by: { option: settingsOption } },
  };
}

const fileName = '.aider.model.settings.yml';
const forAll = 'aider/extra_params';

/** The person's own settings for all models, with address and key. */
async function modelSettings(context: ProgramContext, own: string | undefined): Promise<unknown[]> {
  const { access, home, folder } = context;
  const folders = [home, ...foldersAbove(folder).toReversed()];
  const paths = [...folders.map((each) => join(each, fileName)), ...(own === undefined ? [] : [resolve(folder, own)])];
  const lists = await Promise.all(paths.map((path) => readProgramSettings(context, path, yamlListFormat)));
  const entriesOf = ({ entries }: ClientSettings) => (Array.isArray(entries) ? entries.filter(isObject) : []);
  const present = lists.flatMap(entriesOf).findLast(({ name }) => name === forAll);
  const forced = { name: forAll, extra_params: { api_base: `${access.origin}/v1`, api_key: access.key } };
  const others = own === undefined ? [] : entriesOf(lists.at(-1) ?? {}).filter(({ name }) => name !== forAll);
  return [...others, mergeSettings(present ?? {}, forced)];
}

/** Aider reads the files of the working directory and of the repository around it. */
function foldersAbove(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersAbove(parent)];
}
