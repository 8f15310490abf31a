/** LiteLLM's `config.yaml`: docs.litellm.ai/docs/proxy/configs and the examples in its repository, November 2026. */
import type { AdoptNote } from '../../contract/change-views.ts';
import { isObject } from '../../contract/is-object.ts';
import {
  addressAt,
  brokenAt,
  type Found,
  type FoundKey,
  type FoundService,
  type FoundTarget,
  listAt,
  objectAt,
  type Reading,
  secretAt,
  serviceOf,
  textAt,
  textIn,
  withPath,
} from './found.ts';

/** LiteLLM's names of services, which stand before the model, where they are not those of the presets. */
const presetNames: Readonly<Record<string, string>> = {
  'text-completion-openai': 'openai',
  azure_text: 'azure',
  together_ai: 'together',
  fireworks_ai: 'fireworks',
  nvidia_nim: 'nvidia',
  ollama_chat: 'ollama',
  lm_studio: 'lm-studio',
  hosted_vllm: 'vllm',
  custom_openai: 'custom',
  openai_like: 'custom',
  litellm_proxy: 'custom',
};
const clouds = new Set(['bedrock', 'bedrock_converse', 'vertex_ai', 'vertex_ai_beta', 'sagemaker', 'sagemaker_chat']);
/** Models that LiteLLM knows without the name of their service. */
const bareNames: readonly [RegExp, string][] = [
  [/^(?:gpt-|o\d|chatgpt-|dall-e-|text-embedding-|tts-|whisper-|omni-moderation)/, 'openai'],
  [/^claude-/, 'anthropic'],
];
const readFields = new Set([
  'model',
  'api_key',
  'api_base',
  'base_url',
  'api_version',
  'custom_llm_provider',
  'litellm_credential_name',
  'weight',
  'order',
]);

type Fields = Readonly<Record<string, unknown>>;

interface File extends Reading {
  variables: Fields;
  credentials: ReadonlyMap<string, Fields>;
}

export function isLiteLlm(settings: Fields): boolean {
  return 'model_list' in settings || 'litellm_settings' in settings;
}

export function readLiteLlm(settings: Fields, reading: Reading): Found[] {
  const { model_list: models = [], credential_list: credentials = [], environment_variables: variables } = settings;
  const file: File = {
    ...reading,
    variables: variables ? objectAt(variables, 'environment_variables') : {},
    credentials: credentialsIn(listAt(credentials ?? [], 'credential_list')),
  };
  const deployments = listAt(models ?? [], 'model_list').map((entry, index) =>
    readDeployment(entry, `model_list[${index}]`, file),
  );
  const { model_list: _models, credential_list: _list, environment_variables: _variables, ...sections } = settings;
  return [...deployments, ...Object.entries(sections).flatMap(([name, section]) => readSection(name, section))];
}

function credentialsIn(list: readonly unknown[]): Map<string, Fields> {
  return new Map(
    list.map((entry, index) => {
      const place = `credential_list[${index}]`;
      const { credential_name: name, credential_values: values } = objectAt(entry, place);
      return [textAt(name, `${place}.credential_name`), objectAt(values, `${place}.credential_values`)];
    }),
  );
}

function readDeployment(entry: unknown, at: string, file: File): Found {
  const { model_name: written, litellm_params: params } = objectAt(entry, at);
  const name = textAt(written, `${at}.model_name`);
  const place = `${at} (${name})`;
  const within = `${at}.litellm_params`;
  const own = objectAt(params, within);
  const credential = textIn(own.litellm_credential_name, `${within}.litellm_credential_name`);
  if (credential !== undefined && !file.credentials.has(credential)) {
    throw brokenAt(`${within}.litellm_credential_name`, 'a name of credential_list');
  }
  const given: Fields = { ...(credential !== undefined && file.credentials.get(credential)), ...own };
  const { service: named, model } = splitModel(given, `${within}.model`);
  if (clouds.has(named)) return { place, notes: [{ code: 'cloud-credentials', service: named }] };
  if (model === '') return { place, notes: [{ code: 'model-missing' }] };
  const service = deploymentService(named, given, within, file);
  if ('code' in service) return { place, notes: [service] };
  const dropped = Object.keys(own).filter((field) => !readFields.has(field));
  const notes: AdoptNote[] = dropped.length > 0 ? [{ code: 'fields-dropped', fields: dropped.join(', ') }] : [];
  if (model.includes('*')) return { place, service: { ...service, models: 'discover' }, notes };
  const target: FoundTarget = { service: { ...service, models: [model] }, model, ...orderOf(given, within) };
  return { place, service: target.service, alias: { name, targets: [target] }, notes };
}

function splitModel(given: Fields, place: string): { service: string; model: string } {
  const written = textAt(given.model, place);
  const service = textIn(given.custom_llm_provider, `${place} (custom_llm_provider)`);
  const slash = written.indexOf('/');
  if (service !== undefined) return { service, model: written.replace(`${service}/`, '') };
  const known = bareNames.find(([pattern]) => pattern.test(written));
  if (slash === -1) return { service: known?.[1] ?? (given.api_base ? 'custom' : written), model: written };
  return { service: written.slice(0, slash), model: written.slice(slash + 1) };
}

function deploymentService(named: string, given: Fields, place: string, file: File): FoundService | AdoptNote {
  const preset = presetNames[named] ?? named;
  const known = file.presets.find(({ id }) => id === preset);
  if (!known) return { code: 'service-unknown', service: named };
  const address = textOrVariable(given.api_base ?? given.base_url, `${place}.api_base`, file);
  if (address !== undefined && 'variable' in address) return { code: 'address-missing' };
  const version = textOrVariable(given.api_version, `${place}.api_version`, file);
  const base = address && addressAt(address.text, `${place}.api_base`);
  const service = serviceOf(file, {
    name: base === undefined ? preset : new URL(base).hostname.split('.').slice(0, -1).join('-') || preset,
    preset,
    dialect: known.dialect,
    ...(base !== undefined && addressFor(preset, base, version && 'text' in version ? version.text : undefined)),
    key: keyOf(given.api_key, `${place}.api_key`, { ...file, usual: known.environment[0] }),
  });
  return service ?? { code: 'address-missing' };
}

function addressFor(preset: string, base: string, version: string | undefined): Partial<FoundService> {
  if (preset === 'ollama') return { baseUrl: withPath(base, '/v1') };
  if (preset === 'gemini') return { baseUrl: withPath(base, '/v1beta') };
  if (preset !== 'azure') return { baseUrl: base };
  const isDated = version !== undefined && /^\d{4}-/.test(version);
  return isDated
    ? { baseUrl: withPath(base, '/openai'), apiVersion: version }
    : { baseUrl: withPath(base, '/openai/v1') };
}

/** A text, where it is known; the name of its variable otherwise. */
function textOrVariable(
  value: unknown,
  place: string,
  { variables }: Pick<File, 'variables'>,
): { text: string } | { variable: string } | undefined {
  const text = textIn(typeof value === 'number' ? String(value) : value, place);
  const variable = text?.match(/^os\.environ\/(.+)$/)?.[1];
  if (text === undefined) return undefined;
  if (variable === undefined) return { text };
  const set = textIn(variables[variable], `environment_variables.${variable}`);
  return set === undefined ? { variable } : { text: set };
}

/** LiteLLM looks into the usual variable of a service where no key is given. */
function keyOf(
  value: unknown,
  place: string,
  file: Pick<File, 'variables'> & { usual: string | undefined },
): FoundKey | null {
  const key = textOrVariable(value ?? (file.usual && `os.environ/${file.usual}`), place, file);
  if (key === undefined) return null;
  return 'text' in key ? secretAt(key.text, place) : key;
}

function orderOf({ weight, order }: Fields, place: string): { weight?: number; priority?: number } {
  const number = (value: unknown, name: string) => {
    if (typeof value !== 'number' || value < 0) throw brokenAt(`${place}.${name}`, 'a number');
    return value;
  };
  return {
    ...(weight !== undefined && { weight: number(weight, 'weight') }),
    ...(order !== undefined && { priority: Math.floor(number(order, 'order')) }),
  };
}

/** The rest of the file: fallbacks and aliases, and what is left out. */
function readSection(name: string, section: unknown): Found[] {
  if (!isObject(section)) return [{ place: name, notes: [{ code: 'no-counterpart' }] }];
  return Object.entries(section).flatMap(([field, value]): Found[] => {
    const place = `${name}.${field}`;
    if (field === 'fallbacks') return readFallbacks(value, place);
    if (field === 'model_group_alias') return readGroupAliases(value, place);
    if (field === 'master_key') return [{ place, notes: [{ code: 'own-keys' }] }];
    return [{ place, notes: [{ code: 'no-counterpart' }] }];
  });
}

function readFallbacks(value: unknown, place: string): Found[] {
  return listAt(value ?? [], place).flatMap((entry, index) =>
    Object.entries(objectAt(entry, `${place}[${index}]`)).map(([name, others]): Found => {
      const at = `${place}[${index}] (${name})`;
      const targets = listAt(others, at).map((other, rank) => ({ alias: textAt(other, at), priority: rank + 1 }));
      return { place: at, alias: { name, targets }, notes: [] };
    }),
  );
}

function readGroupAliases(value: unknown, place: string): Found[] {
  return Object.entries(objectAt(value ?? {}, place)).map(([name, other]): Found => {
    const target = isObject(other) ? other.model : other;
    return {
      place: `${place}.${name}`,
      alias: { name, targets: [{ alias: textAt(target, `${place}.${name}`), priority: 0 }] },
      notes: [],
    };
  });
}
