/**
 * Settings that lead a client past Sluice, by client: it prefers them to those that Sluice writes or passes. `connect`
 * takes them out of the files that it writes, and names those in other places; `run` refuses those that outrank it.
 * Sources are named in `cli/programs/`. Pure.
 */
import { withoutSlashes } from '../contract/address.ts';
import { isObject } from '../contract/is-object.ts';
import { type ClientSettings, type SettingsPath, sectionOf } from './merge-settings.ts';

/** What a client is to use. */
export interface Sought {
  /** Of Sluice, without `/v1`. */
  origin: string;
  /** Undefined if any will do. */
  model?: string | undefined;
  /** The key is read from a file or the client's settings, which variables outrank. */
  isKeyKept?: boolean;
  /** The key's secret: a variable that holds it leads nowhere else. Undefined if unknown. */
  secret?: string | undefined;
}

/** The paths of the settings of one file that lead elsewhere. */
export type Rivals = (settings: ClientSettings, sought: Sought) => SettingsPath[];

/** Variables by which Claude Code uses another service than that of ANTHROPIC_BASE_URL, or another credential. */
export const claudeSwitches: readonly string[] = [
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
  'CLAUDE_CODE_USE_ANTHROPIC_AWS',
  'CLAUDE_CODE_USE_MANTLE',
  'CLAUDE_CODE_USE_GATEWAY',
  'ANTHROPIC_UNIX_SOCKET',
  'CLAUDE_CODE_HOST_AUTH_ENV_VAR',
];

/** Variables for a key of Claude Code, the strongest first: `apiKeyHelper` comes after them. */
const claudeCredentials: readonly string[] = ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY'];

/** Variables by which Claude Code chooses models. */
export const claudeModelVariables: readonly string[] = [
  'ANTHROPIC_MODEL',
  'ANTHROPIC_DEFAULT_FABLE_MODEL',
  'ANTHROPIC_DEFAULT_OPUS_MODEL',
  'ANTHROPIC_DEFAULT_SONNET_MODEL',
  'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  'ANTHROPIC_SMALL_FAST_MODEL',
  'CLAUDE_CODE_SUBAGENT_MODEL',
];

/** Those that Claude Code reads without a person choosing a model by `/model`. */
const claudeUnaskedModels = claudeModelVariables.filter((name) => !/FABLE|OPUS|SONNET/.test(name));

/** Whether a variable that switches something on does so. */
function isOn(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && !/^(0|false|no|off)$/i.test(value);
}

const isOther = (value: unknown, sought: string | undefined): boolean =>
  value !== undefined && value !== '' && sought !== undefined && value !== sought;

const withoutSlash = (value: unknown) => (typeof value === 'string' ? withoutSlashes(value) : value);

/** `models`: the variables for models that must name the sought one. */
export function rivalsOfClaudeCode(
  settings: ClientSettings,
  { origin, model, isKeyKept = false }: Sought,
  models: readonly string[] = claudeModelVariables,
): SettingsPath[] {
  const env = sectionOf(settings, 'env');
  const credentials = isKeyKept ? claudeCredentials : claudeCredentials.slice(0, 1);
  const isElsewhere = (name: string) => {
    if (name === 'ANTHROPIC_BASE_URL') return isOther(withoutSlash(env[name]), origin);
    return models.includes(name) ? isOther(env[name], model) : isOn(env[name]);
  };
  const variables = ['ANTHROPIC_BASE_URL', ...claudeSwitches, ...credentials, ...models].filter(isElsewhere);
  const others = ['forceLoginMethod', 'forceLoginOrgUUID', 'apiKeyHelper'].filter((name) => settings[name]);
  return [...variables.map((name) => ['env', name]), ...others.map((name) => [name])];
}

/** Of files beside the person's own: what takes effect without anybody choosing it. */
export const unaskedRivalsOfClaudeCode: Rivals = (settings, sought) =>
  rivalsOfClaudeCode(settings, sought, claudeUnaskedModels);

/** Of the person's own file, in which a key would outrank the one of the environment, or be asked about. */
export const ownRivalsOfClaudeCode: Rivals = (settings, sought) =>
  unaskedRivalsOfClaudeCode(settings, { ...sought, isKeyKept: true });

/** Of the shell: those that the settings file does not override. */
export const variableRivalsOfClaudeCode: Rivals = (variables, { model, secret, isKeyKept }) => [
  ...claudeSwitches.filter((name) => isOn(variables[name])).map((name) => [name]),
  ...['ANTHROPIC_SMALL_FAST_MODEL', 'CLAUDE_CODE_SUBAGENT_MODEL']
    .filter((name) => isOther(variables[name], model))
    .map((name) => [name]),
  ...(isKeyKept ? claudeCredentials : [])
    .filter((name) => isOn(variables[name]) && variables[name] !== secret)
    .map((name) => [name]),
];

export const rivalsOfCodex: Rivals = ({ model_provider: provider, model, ...settings }, sought) => [
  ...(isOther(provider, 'sluice') ? [['model_provider']] : []),
  ...(Object.keys(sectionOf(settings, 'model_providers', 'sluice')).length > 0 ? [['model_providers', 'sluice']] : []),
  ...(isOther(model, sought.model) ? [['model']] : []),
];

/** What a provider of Codex may say besides the four settings that Sluice writes without leading elsewhere. */
const harmlessOfCodexProvider = /^(name|base_url|wire_api|.*_max_retries|.*_timeout_ms|env_key_instructions)$/;

/** Up to version 0.130 or so, `profile` names a table that outranks the settings beside it. */
export const ownRivalsOfCodex: Rivals = (settings, { model, isKeyKept }) => {
  const { profile } = settings;
  const inProfile = typeof profile === 'string' ? sectionOf(settings, 'profiles', profile) : {};
  const place = ['profiles', String(profile)];
  const provider = Object.keys(sectionOf(settings, 'model_providers', 'sluice'));
  const ownKey = isKeyKept ? 'auth' : 'env_key';
  return [
    ...(isOther(inProfile.model_provider, 'sluice') ? [[...place, 'model_provider']] : []),
    ...(isOther(inProfile.model, model) ? [[...place, 'model']] : []),
    ...provider
      .filter((name) => name !== ownKey && !harmlessOfCodexProvider.test(name))
      .map((name) => ['model_providers', 'sluice', name]),
  ];
};

/** Gemini CLI and Qwen Code, its fork. `signIn`: the type of sign-in that uses Sluice. */
export const signInRivals =
  (signIn: string): Rivals =>
  (settings) => {
    const place = ['security', 'auth'];
    const { enforcedType, useExternal } = sectionOf(settings, ...place);
    return [
      ...(isOther(enforcedType, signIn) ? [[...place, 'enforcedType']] : []),
      ...(useExternal === true ? [[...place, 'useExternal']] : []),
    ];
  };

/** Of settings that come before the person's: `selectedType` and the model too. */
export const rankedSignInRivals =
  (signIn: string): Rivals =>
  (settings, sought) => [
    ...signInRivals(signIn)(settings, sought),
    ...(isOther(sectionOf(settings, 'security', 'auth').selectedType, signIn)
      ? [['security', 'auth', 'selectedType']]
      : []),
    ...(isOther(sectionOf(settings, 'model').name, sought.model) ? [['model', 'name']] : []),
  ];

/** Of a file of variables, or of the environment. */
export const variableRivalsOfGemini: Rivals = (variables, { origin, model }) =>
  [
    isOther(withoutSlash(plainValue(variables.GOOGLE_GEMINI_BASE_URL)), origin) && 'GOOGLE_GEMINI_BASE_URL',
    isOther(plainValue(variables.GEMINI_MODEL), model) && 'GEMINI_MODEL',
    ...['GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_GENAI_API_VERSION', 'GEMINI_CLI_CUSTOM_HEADERS'].filter((name) =>
      isOn(plainValue(variables[name])),
    ),
  ]
    .filter((name) => name !== false)
    .map((name) => [name]);

/** The value of a line of a `.env` file without quotes. */
function plainValue(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return /^(["'`])(.*)\1$/.exec(value)?.[2] ?? value;
}

const proxies = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];

/** Qwen Code sends even requests to loopback addresses to a proxy, whatever NO_PROXY says. */
export const variableRivalsOfQwen: Rivals = (variables, { model }) => [
  ...['OPENAI_MODEL', 'QWEN_MODEL'].filter((name) => isOther(plainValue(variables[name]), model)).map((name) => [name]),
  ...proxies.filter((name) => isOn(plainValue(variables[name]))).map((name) => [name]),
];

export const ownRivalsOfQwen: Rivals = (settings, sought) => [
  ...signInRivals('openai')(settings, sought),
  ...(isOn(settings.proxy) ? [['proxy']] : []),
  ...variableRivalsOfQwen(sectionOf(settings, 'env'), sought).map((path) => ['env', ...path]),
];

/** The agent that opencode starts with may name a model of its own. */
export const rivalsOfOpencode: Rivals = (settings, { model }) => {
  const { enabled_providers: enabled, disabled_providers: disabled, default_agent: agent = 'build' } = settings;
  const place = ['agent', String(agent), 'model'];
  const wanted = model && `sluice/${model}`;
  return [
    ...(Array.isArray(enabled) && !enabled.includes('sluice') ? [['enabled_providers']] : []),
    ...(Array.isArray(disabled) && disabled.includes('sluice')
      ? [['disabled_providers', disabled.indexOf('sluice')]]
      : []),
    ...(isOther(sectionOf(settings, 'agent', String(agent)).model, wanted) ? [place] : []),
  ];
};

/** Of files that are merged over the person's own. */
export const rankedRivalsOfOpencode: Rivals = (settings, sought) => [
  ...rivalsOfOpencode(settings, sought),
  ...(isOther(settings.model, sought.model && `sluice/${sought.model}`) ? [['model']] : []),
  ...(Object.keys(sectionOf(settings, 'provider', 'sluice')).length > 0 ? [['provider', 'sluice']] : []),
];

/** Aider's options, as AIDER_… outrank `.aider.conf.yml`; LiteLLM prefers OPENAI_BASE_URL to the address that it sets. */
export const variableRivalsOfAider: Rivals = (variables, { origin, model }) => {
  const base = `${origin}/v1`;
  const wanted: Record<string, string | undefined> = {
    AIDER_OPENAI_API_BASE: base,
    OPENAI_BASE_URL: base,
    AIDER_MODEL: model && `openai/${model}`,
    AIDER_WEAK_MODEL: model && `openai/${model}`,
    AIDER_OPENAI_API_KEY: '',
  };
  return Object.entries(wanted)
    .filter(([name, value]) => isOther(withoutSlash(plainValue(variables[name])), value))
    .map(([name]) => [name]);
};

/** In a `.env` file, which overrides the environment, even the key. */
export const fileRivalsOfAider: Rivals = (variables, sought) => [
  ...variableRivalsOfAider(variables, sought),
  ...(isOn(plainValue(variables.OPENAI_API_KEY)) ? [['OPENAI_API_KEY']] : []),
];

/** Options that hold a key, a variable or another name for a model. */
export const ownRivalsOfAider: Rivals = (settings, { model }) => {
  const leads: Record<string, RegExp | string> = {
    'api-key': /^openai=/,
    'set-env': /^(AIDER_)?OPENAI_(API_BASE|BASE_URL|API_KEY)=/,
    alias: `openai/${model}:`,
  };
  const listed = Object.entries(leads).flatMap(([name, lead]) => {
    const { [name]: value } = settings;
    const isRival = (each: unknown) =>
      typeof each === 'string' && (typeof lead === 'string' ? each.startsWith(lead) : lead.test(each));
    if (!Array.isArray(value)) return isRival(value) ? [[name]] : [];
    if (value.every(isRival) && value.length > 0) return [[name]];
    return value.flatMap((each, index) => (isRival(each) ? [[name, index]] : []));
  });
  return [...(isOn(settings['openai-api-key']) ? [['openai-api-key']] : []), ...listed];
};

export const rankedRivalsOfAider: Rivals = (settings, sought) => [
  ...ownRivalsOfAider(settings, sought),
  ...(isOther(withoutSlash(settings['openai-api-base']), `${sought.origin}/v1`) ? [['openai-api-base']] : []),
  ...['model', 'weak-model']
    .filter((name) => isOther(settings[name], sought.model && `openai/${sought.model}`))
    .map((name) => [name]),
];

/** `.aider.model.settings.yml` may give an address or key for all models, or for this one. */
export const modelRivalsOfAider: Rivals = ({ entries }, { model }) => {
  if (!Array.isArray(entries)) return [];
  const names: unknown[] = ['aider/extra_params', `openai/${model}`];
  return entries.flatMap((entry: unknown, index) => {
    if (!isObject(entry) || !names.includes(entry.name)) return [];
    const given = Object.keys(sectionOf(entry, 'extra_params'));
    const rivals = given.filter((name) => ['api_base', 'base_url', 'api_key'].includes(name));
    return rivals.map((name) => ['entries', index, 'extra_params', name]);
  });
};

/** Request options of all models, which Continue may need for others. */
export const rivalsOfContinue: Rivals = (settings) => {
  const options = sectionOf(settings, 'requestOptions');
  const hasKey = Object.keys(sectionOf(options, 'headers')).find((name) => /^authorization$/i.test(name));
  return [
    ...(isOn(options.proxy) ? [['requestOptions', 'proxy']] : []),
    ...(hasKey ? [['requestOptions', 'headers', hasKey]] : []),
  ];
};

export const switchRivals =
  (...path: readonly string[]): Rivals =>
  (settings) =>
    sectionOf(settings, ...path.slice(0, -1))[path.at(-1) ?? ''] === true ? [path] : [];

/** LibreChat reads another file, or asks all services through a proxy. */
export const keptRivalsOfLibreChat: Rivals = (variables) =>
  ['CONFIG_PATH', 'PROXY'].filter((name) => isOn(plainValue(variables[name]))).map((name) => [name]);

/** `ENDPOINTS` lists what LibreChat offers. */
export const rivalsOfLibreChat: Rivals = ({ ENDPOINTS }) => {
  const listed = plainValue(ENDPOINTS);
  const isLimited = typeof listed === 'string' && listed.trim() !== '';
  return isLimited && !listed.split(',').some((name) => name.trim() === 'custom') ? [['ENDPOINTS']] : [];
};
