/**
 * The clients whose configuration files Sluice can change: where the files are, and which settings connect the client
 * to Sluice. Only formats that were tried with the client itself, or that its maker documents.
 */
import { withoutVersion } from '../contract/clients/client-guide.ts';
import { copilotProvider } from '../contract/clients/editor-guides.ts';
import { isObject } from '../contract/is-object.ts';
import { shellWord } from '../contract/shell-words.ts';
import { dotenvFormat } from './dotenv-format.ts';
import { type JsonExtra, jsonFormat, jsonListFormat } from './json-format.ts';
import { type ClientSettings, type ConfigFormat, mergeSettings, withEntry } from './merge-settings.ts';
import {
  fileRivalsOfAider,
  modelRivalsOfAider,
  ownRivalsOfAider,
  ownRivalsOfClaudeCode,
  ownRivalsOfCodex,
  ownRivalsOfQwen,
  type Rivals,
  rivalsOfLibreChat,
  rivalsOfOpencode,
  signInRivals,
  switchRivals,
  variableRivalsOfGemini,
  variableRivalsOfQwen,
} from './rival-settings.ts';
import { tomlFormat } from './toml-format.ts';
import { yamlFormat, yamlListFormat } from './yaml-format.ts';

export interface WantedConnection {
  /** Ends in `/v1`. */
  baseUrl: string;
  model: string;
  /** The key's secret; empty if the client is to read it from its variable. */
  secret: string;
  /** Of Sluice, with the secret as its only content; null for clients that keep the secret themselves. */
  keyFile: string | null;
}

export interface ClientFile {
  /** The folder, relative to the home folder. */
  folder: string;
  /** A variable that overrides the folder, and the subfolder within it. */
  variable?: { name: string; subfolder: string };
  /** The folder is where the program itself is installed, so it is never created. */
  isProgramFolder?: true;
  /** The first that exists is used, otherwise the last. */
  names: readonly [string, ...string[]];
  format: ConfigFormat;
  /** The file's settings with those that make the client use Sluice. Throws SettingsConflict. */
  connect(settings: ClientSettings, wanted: WantedConnection): ClientSettings;
  /** Settings of the file that the client prefers to those of `connect`; they are taken out. */
  rivals?: Rivals;
  /** What makes the client ignore the whole file, though it is JSON with comments. */
  rejects?: readonly JsonExtra[];
  /** Nothing is added to the file: it is changed only if it is there and leads the client elsewhere. */
  isOnlyCleared?: true;
}

export interface ConfigurableClient {
  id: string;
  name: string;
  /** The variable from which the client reads the key if it is in no file; null if it reads it only from its file. */
  keyVariable: string | null;
  /**
   * Where the key is kept so that nothing is left to export: in the client's `settings`, or in a `file` of Sluice that
   * these name. Null for a client that knows neither. Sources are named in docs/clients.md.
   */
  keyPlace: 'settings' | 'file' | null;
  files: readonly ClientFile[];
}

/** Sluice's own variable, for clients in which its name can be configured. */
const ownVariable = 'SLUICE_KEY';
const xdgConfig = (subfolder: string) => ({ name: 'XDG_CONFIG_HOME', subfolder });

/** The folder that contains VS Code's folder `Code`; `.config` on other systems. */
const codeFolders: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'Library/Application Support',
  win32: 'AppData/Roaming',
};

const codeUser = {
  folder: `${codeFolders[process.platform] ?? '.config'}/Code/User`,
  ...(process.platform === 'linux' && { variable: xdgConfig('Code/User') }),
};

const onlyCleared = { isOnlyCleared: true, connect: (settings: ClientSettings) => settings } as const;

/** What prints the key's file: it needs no Sluice, so it answers at once, and also while Sluice is off. */
function keyProgram(path: string): { command: string; args: string[] } {
  return process.platform === 'win32'
    ? { command: 'cmd.exe', args: ['/d', '/c', 'type', path] }
    : { command: 'cat', args: [path] };
}

/** The same as a line for the shell. */
function keyCommand(path: string): string {
  return process.platform === 'win32' ? `cmd.exe /d /c type "${path}"` : `cat ${shellWord(path)}`;
}

/** The context window to configure where a client requires one. */
const contextTokens = 128_000;

export const configurableClients: readonly ConfigurableClient[] = [
  {
    id: 'codex',
    name: 'Codex CLI',
    keyVariable: ownVariable,
    keyPlace: 'file',
    files: [
      {
        folder: '.codex',
        variable: { name: 'CODEX_HOME', subfolder: '' },
        names: ['config.toml'],
        format: tomlFormat,
        connect(settings, { baseUrl, model, keyFile }) {
          const key = keyFile === null ? { env_key: ownVariable } : { auth: keyProgram(keyFile) };
          const sluice = {
            name: 'Sluice',
            base_url: baseUrl,
            ...key,
            wire_api: 'responses',
            supports_websockets: false,
          };
          return mergeSettings(settings, { model, model_provider: 'sluice', model_providers: { sluice } });
        },
        rivals: ownRivalsOfCodex,
      },
    ],
  },
  {
    id: 'claude-code',
    name: 'Claude Code',
    keyVariable: 'ANTHROPIC_AUTH_TOKEN',
    keyPlace: 'file',
    files: [
      {
        folder: '.claude',
        variable: { name: 'CLAUDE_CONFIG_DIR', subfolder: '' },
        names: ['settings.json'],
        format: jsonFormat,
        connect(settings, { baseUrl, model, keyFile }) {
          const base = { ANTHROPIC_BASE_URL: withoutVersion(baseUrl) };
          const models = { ANTHROPIC_MODEL: model, ANTHROPIC_DEFAULT_HAIKU_MODEL: model };
          // Behind an address other than Anthropic's, it would otherwise send the tools of all MCP servers each time.
          const search = { ENABLE_TOOL_SEARCH: (isObject(settings.env) && settings.env.ENABLE_TOOL_SEARCH) || 'true' };
          const helper = keyFile === null ? {} : { apiKeyHelper: keyCommand(keyFile) };
          return mergeSettings(settings, { env: { ...base, ...models, ...search }, ...helper });
        },
        rivals: ownRivalsOfClaudeCode,
        // anthropics/claude-code#83190; a mark is rejected by its versions before 2026, and by the desktop app (#81355).
        rejects: ['comment', 'comma', 'mark'],
      },
    ],
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    keyVariable: 'GEMINI_API_KEY',
    keyPlace: 'settings',
    files: [
      {
        folder: '.gemini',
        names: ['settings.json'],
        format: jsonFormat,
        connect: (settings, { model }) =>
          mergeSettings(settings, { security: { auth: { selectedType: 'gemini-api-key' } }, model: { name: model } }),
        rivals: signInRivals('gemini-api-key'),
        rejects: ['comma'],
      },
      {
        folder: '.gemini',
        names: ['.env'],
        format: dotenvFormat,
        connect: (settings, { baseUrl, secret }) =>
          mergeSettings(settings, {
            GOOGLE_GEMINI_BASE_URL: withoutVersion(baseUrl),
            ...(secret && { GEMINI_API_KEY: secret }),
          }),
        rivals: variableRivalsOfGemini,
      },
    ],
  },
  {
    id: 'opencode',
    name: 'opencode',
    keyVariable: ownVariable,
    keyPlace: 'file',
    files: [
      {
        folder: '.config/opencode',
        variable: xdgConfig('opencode'),
        names: ['opencode.jsonc', 'opencode.json'],
        format: jsonFormat,
        connect(settings, { baseUrl, model, keyFile }) {
          const apiKey = keyFile === null ? `{env:${ownVariable}}` : `{file:${keyFile.replaceAll('\\', '/')}}`;
          const options = { baseURL: baseUrl, apiKey };
          const sluice = { npm: '@ai-sdk/openai-compatible', name: 'Sluice', options, models: { [model]: {} } };
          const { enabled_providers: enabled } = settings;
          const isLeftOut = Array.isArray(enabled) && !enabled.includes('sluice');
          const added = isLeftOut ? { enabled_providers: [...enabled, 'sluice'] } : {};
          return mergeSettings(settings, { ...added, model: `sluice/${model}`, provider: { sluice } });
        },
        rivals: rivalsOfOpencode,
      },
    ],
  },
  {
    id: 'qwen-code',
    name: 'Qwen Code',
    keyVariable: ownVariable,
    keyPlace: 'settings',
    files: [
      {
        folder: '.qwen',
        names: ['settings.json'],
        format: jsonFormat,
        connect: connectQwen,
        rivals: ownRivalsOfQwen,
        rejects: ['comma'],
      },
      { folder: '.qwen', names: ['.env'], format: dotenvFormat, ...onlyCleared, rivals: variableRivalsOfQwen },
    ],
  },
  {
    id: 'continue',
    name: 'Continue',
    keyVariable: null,
    keyPlace: 'settings',
    files: [{ folder: '.continue', names: ['config.yaml'], format: yamlFormat, connect: connectContinue }],
  },
  {
    id: 'zed',
    name: 'Zed',
    // Zed derives it from the provider's name.
    keyVariable: 'SLUICE_API_KEY',
    keyPlace: null,
    files: [
      {
        folder: process.platform === 'win32' ? 'AppData/Roaming/Zed' : '.config/zed',
        ...(process.platform === 'linux' && { variable: xdgConfig('zed') }),
        names: ['settings.json'],
        format: jsonFormat,
        connect(settings, { baseUrl, model }) {
          const sluice = { api_url: baseUrl, available_models: [{ name: model, max_tokens: contextTokens }] };
          return mergeSettings(settings, { language_models: { openai_compatible: { Sluice: sluice } } });
        },
        rivals: switchRivals('disable_ai'),
      },
    ],
  },
  {
    id: 'vscode-copilot',
    name: 'VS Code Copilot',
    keyVariable: null,
    keyPlace: 'settings',
    files: [
      {
        ...codeUser,
        names: ['chatLanguageModels.json'],
        format: jsonListFormat,
        connect: connectCopilot,
      },
      {
        ...codeUser,
        names: ['settings.json'],
        format: jsonFormat,
        ...onlyCleared,
        rivals: switchRivals('chat.disableAIFeatures'),
      },
    ],
  },
  {
    id: 'aider',
    name: 'Aider',
    keyVariable: 'OPENAI_API_KEY',
    keyPlace: 'settings',
    files: [
      {
        folder: '',
        names: ['.aider.conf.yml'],
        format: yamlFormat,
        connect: (settings, { baseUrl, model, secret }) =>
          mergeSettings(settings, {
            'openai-api-base': baseUrl,
            ...(secret && { 'openai-api-key': secret }),
            model: `openai/${model}`,
            // Otherwise Aider uses a cheaper model of its own choice, which the key may not be allowed to use.
            'weak-model': `openai/${model}`,
          }),
        rivals: ownRivalsOfAider,
      },
      {
        folder: '',
        names: ['.aider.model.settings.yml'],
        format: yamlListFormat,
        connect: nameAider,
        rivals: modelRivalsOfAider,
      },
      { folder: '', names: ['.env'], format: dotenvFormat, ...onlyCleared, rivals: fileRivalsOfAider },
    ],
  },
  {
    id: 'librechat',
    name: 'LibreChat',
    keyVariable: ownVariable,
    keyPlace: 'settings',
    files: [
      {
        // The folder's name if the repository is cloned as the documentation says.
        folder: 'LibreChat',
        isProgramFolder: true,
        names: ['librechat.yaml'],
        format: yamlFormat,
        connect: connectLibreChat,
        rivals: switchRivals('modelSpecs', 'enforce'),
      },
      {
        folder: 'LibreChat',
        isProgramFolder: true,
        names: ['.env'],
        format: dotenvFormat,
        connect: (settings, wanted) =>
          mergeSettings(offerCustom(settings, wanted), wanted.secret ? { [ownVariable]: wanted.secret } : {}),
      },
    ],
  },
];

/** Aider calls through openai-python and with its `user-agent`. The settings under this name apply to all models. */
function nameAider({ entries }: ClientSettings): ClientSettings {
  const isForAll = ({ name }: ClientSettings) => name === 'aider/extra_params';
  const present = Array.isArray(entries) ? entries.filter(isObject).find(isForAll) : undefined;
  const added = { name: 'aider/extra_params', extra_params: { extra_headers: { 'X-Title': 'Aider' } } };
  return { entries: withEntry(entries, mergeSettings(present ?? {}, added), isForAll) };
}

function connectLibreChat(settings: ClientSettings, { baseUrl, model }: WantedConnection): ClientSettings {
  const entry = {
    name: 'Sluice',
    apiKey: `\${${ownVariable}}`,
    baseURL: baseUrl,
    models: { default: [model], fetch: true },
    headers: { 'X-Title': 'LibreChat' },
  };
  const added = mergeSettings({ version: '1.3.0', ...settings }, { endpoints: {} });
  const { custom } = added.endpoints as ClientSettings;
  return mergeSettings(added, { endpoints: { custom: withEntry(custom, entry, ({ name }) => name === entry.name) } });
}

/** LibreChat offers only the endpoints that `ENDPOINTS` lists, if it is set. */
function offerCustom(settings: ClientSettings, { baseUrl }: WantedConnection): ClientSettings {
  if (rivalsOfLibreChat(settings, { origin: withoutVersion(baseUrl) }).length === 0) return settings;
  const listed = String(settings.ENDPOINTS);
  const closing = /["'`]$/.exec(listed)?.[0] ?? '';
  return { ...settings, ENDPOINTS: `${listed.slice(0, listed.length - closing.length)},custom${closing}` };
}

/** The file that "Chat: Open Language Models (JSON)" opens. */
function connectCopilot(settings: ClientSettings, { baseUrl, model, secret }: WantedConnection): ClientSettings {
  const entry = copilotProvider({ baseUrl, key: secret, model });
  return { entries: withEntry(settings.entries, entry, ({ name }) => name === entry.name) };
}

function connectQwen(settings: ClientSettings, { baseUrl, model, secret }: WantedConnection): ClientSettings {
  const entry = { id: model, name: `${model} (Sluice)`, baseUrl, envKey: ownVariable };
  const key = secret && { env: { [ownVariable]: secret } };
  const rest = { security: { auth: { selectedType: 'openai' } }, model: { name: model }, ...key };
  const added = mergeSettings(settings, { modelProviders: {}, ...rest });
  const { modelProviders } = added;
  const { openai }: ClientSettings = { ...(modelProviders as ClientSettings) };
  // Qwen Code uses the first of two models with the same name.
  const list = withEntry(openai, entry, ({ id, envKey }) => id === model || envKey === ownVariable);
  return mergeSettings(added, { modelProviders: { openai: list } });
}

function connectContinue(settings: ClientSettings, { baseUrl, model, secret }: WantedConnection): ClientSettings {
  const entry = {
    name: 'Sluice',
    provider: 'openai',
    model,
    apiBase: baseUrl,
    apiKey: secret,
    roles: ['chat', 'edit', 'apply'],
    // Which it derives from the names of models that it knows; without tools it is no agent.
    capabilities: ['tool_use', 'image_input'],
  };
  const models = withEntry(settings.models, entry, ({ name }) => name === entry.name);
  return { name: 'Sluice', version: '0.0.1', schema: 'v1', ...settings, models };
}
