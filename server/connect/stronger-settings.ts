/**
 * What a client prefers to its own settings file: variables, settings of an organisation, of the project or of other
 * files. Reads files, but writes none, and tells names, never values.
 */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { StrongerSetting } from '../contract/connect-views.ts';
import { dotenvFormat } from './dotenv-format.ts';
import { jsonFormat } from './json-format.ts';
import { managedPath } from './managed-paths.ts';
import type { ClientSettings, ConfigFormat } from './merge-settings.ts';
import {
  fileRivalsOfAider,
  keptRivalsOfLibreChat,
  modelRivalsOfAider,
  type Rivals,
  rankedRivalsOfAider,
  rankedRivalsOfOpencode,
  rankedSignInRivals,
  rivalsOfCodex,
  rivalsOfContinue,
  type Sought,
  switchRivals,
  unaskedRivalsOfClaudeCode,
  variableRivalsOfAider,
  variableRivalsOfClaudeCode,
  variableRivalsOfGemini,
  variableRivalsOfQwen,
} from './rival-settings.ts';
import { tomlFormat } from './toml-format.ts';
import { yamlFormat, yamlListFormat } from './yaml-format.ts';

/** Where the client will run. */
interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  /** The project's folder. */
  folder: string | null;
  platform: NodeJS.Platform;
  /** Resolves with null if there is no such file. */
  readFile(path: string): Promise<string | null>;
  /** The names of the files in it; empty if there is no such folder. */
  listFolder(path: string): Promise<readonly string[]>;
}

/** `folder`: null if none is known, as for an engine: a terminal may have one, and other variables. */
export function surroundings(env: Surroundings['env'], home: string, folder: string | null): Surroundings {
  return {
    env,
    home,
    folder,
    platform: process.platform,
    readFile: (path) => readFile(path, 'utf8').catch(() => null),
    listFolder: (path) => readdir(path).catch(() => []),
  };
}

interface OtherFile {
  path: string;
  format: ConfigFormat;
  rivals: Rivals;
}

interface Places {
  variables?: Rivals;
  files(around: Surroundings, managed: string): Promise<OtherFile[]> | OtherFile[];
}

/** By the client's id. */
const placesOf: Record<string, Places> = {
  'claude-code': {
    variables: variableRivalsOfClaudeCode,
    async files({ env, home, folder, listFolder }, managed) {
      const dropIns = await listFolder(join(managed, 'managed-settings.d'));
      const paths = [
        join(managed, 'managed-settings.json'),
        ...dropIns.filter((name) => name.endsWith('.json')).map((name) => join(managed, 'managed-settings.d', name)),
        join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
        ...inProject({ folder, home }, ['.claude/settings.json', '.claude/settings.local.json']),
      ];
      return paths.map((path) => ({ path, format: jsonFormat, rivals: unaskedRivalsOfClaudeCode }));
    },
  },
  codex: {
    files(around, managed) {
      const { platform, env, home } = around;
      const folder = platform === 'win32' ? env.CODEX_HOME || join(home, '.codex') : managed;
      const paths = [join(folder, 'managed_config.toml'), ...inProject(around, ['.codex/config.toml'])];
      return paths.map((path) => ({ path, format: tomlFormat, rivals: rivalsOfCodex }));
    },
  },
  'gemini-cli': {
    variables: variableRivalsOfGemini,
    files: (around, managed) => [
      ...[managed, ...inProject(around, ['.gemini/settings.json'])].map((path) => ({
        path,
        format: jsonFormat,
        rivals: rankedSignInRivals('gemini-api-key'),
      })),
      // The first that Gemini CLI finds above the project hides the person's own.
      ...inProject(around, ['.gemini/.env', '.env']).map((path) => ({
        path,
        format: dotenvFormat,
        rivals: variableRivalsOfGemini,
      })),
    ],
  },
  opencode: {
    files: (around, managed) =>
      [
        ...(around.env.OPENCODE_CONFIG ? [around.env.OPENCODE_CONFIG] : []),
        ...inProject(around, [
          'opencode.json',
          'opencode.jsonc',
          '.opencode/opencode.json',
          '.opencode/opencode.jsonc',
        ]),
        ...['opencode.json', 'opencode.jsonc'].map((name) => join(managed, name)),
      ].map((path) => ({ path, format: jsonFormat, rivals: rankedRivalsOfOpencode })),
  },
  'qwen-code': {
    variables: variableRivalsOfQwen,
    files: (around, managed) => [
      ...[managed, ...inProject(around, ['.qwen/settings.json'])].map((path) => ({
        path,
        format: jsonFormat,
        rivals: rankedSignInRivals('openai'),
      })),
      ...inProject(around, ['.qwen/.env', '.env']).map((path) => ({
        path,
        format: dotenvFormat,
        rivals: variableRivalsOfQwen,
      })),
    ],
  },
  continue: {
    files: ({ home, env }) => [
      {
        path: join(env.CONTINUE_GLOBAL_DIR || join(home, '.continue'), 'config.yaml'),
        format: yamlFormat,
        rivals: rivalsOfContinue,
      },
    ],
  },
  zed: {
    files: (around) =>
      inProject(around, ['.zed/settings.json']).map((path) => ({
        path,
        format: jsonFormat,
        rivals: switchRivals('disable_ai'),
      })),
  },
  'vscode-copilot': {
    files: (around) =>
      inProject(around, ['.vscode/settings.json']).map((path) => ({
        path,
        format: jsonFormat,
        rivals: switchRivals('chat.disableAIFeatures'),
      })),
  },
  aider: {
    variables: variableRivalsOfAider,
    files: (around) => [
      ...inProject(around, ['.aider.conf.yml']).map((path) => ({
        path,
        format: yamlFormat,
        rivals: rankedRivalsOfAider,
      })),
      ...inProject(around, ['.aider.model.settings.yml']).map((path) => ({
        path,
        format: yamlListFormat,
        rivals: modelRivalsOfAider,
      })),
      ...inProject(around, ['.env']).map((path) => ({ path, format: dotenvFormat, rivals: fileRivalsOfAider })),
    ],
  },
  librechat: {
    files: ({ home }) => [{ path: join(home, 'LibreChat/.env'), format: dotenvFormat, rivals: keptRivalsOfLibreChat }],
  },
};

/** Those that lead the client past what Sluice writes for it, and that Sluice does not change. */
export async function strongerSettings(
  client: string,
  around: Surroundings,
  sought: Sought,
): Promise<StrongerSetting[]> {
  const places = placesOf[client];
  if (!places) return [];
  const variables = (places.variables?.(around.env, sought) ?? []).map((path) => ({
    place: null,
    setting: nameOf(path),
  }));
  const inline = client === 'opencode' ? inContent(around.env.OPENCODE_CONFIG_CONTENT, sought) : [];
  const managed = managedPath(client, around.platform, around.env) ?? '';
  const files = await places.files(around, managed);
  const found = await Promise.all(files.map((file) => rivalsInFile(file, around, sought)));
  return [...variables, ...inline, ...found.flat()];
}

async function rivalsInFile({ path, format, rivals }: OtherFile, around: Surroundings, sought: Sought) {
  const settings = await readSettings(around, path, format);
  return rivals(settings, sought).map((each) => ({ place: shownPlace(path, around.home), setting: nameOf(each) }));
}

/** Empty if there is no such file, or if it is none that the client could read. */
async function readSettings({ readFile }: Surroundings, path: string, format: ConfigFormat): Promise<ClientSettings> {
  try {
    const text = await readFile(path);
    return text === null ? {} : format.parse(text);
  } catch {
    return {};
  }
}

function inContent(content: string | undefined, sought: Sought): StrongerSetting[] {
  try {
    const rivals = rankedRivalsOfOpencode(jsonFormat.parse(content ?? ''), sought);
    return rivals.map((path) => ({ place: null, setting: `OPENCODE_CONFIG_CONTENT ${nameOf(path)}` }));
  } catch {
    return [];
  }
}

/** The files of the project's folder and of those above it, up to the home folder, whose own files are the person's. */
function inProject({ folder, home }: Pick<Surroundings, 'folder' | 'home'>, names: readonly string[]): string[] {
  if (folder === null || folder === home) return [];
  const parent = dirname(folder);
  const above = parent === folder ? [] : inProject({ folder: parent, home }, names);
  return [...names.map((name) => join(folder, name)), ...above];
}

function shownPlace(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~/${path.slice(home.length + 1)}` : path;
}

/** A path of settings as people read it; the only setting of a file that is a list is not shown. */
export function nameOf(path: readonly (string | number)[]): string {
  return (path[0] === 'entries' ? path.slice(1) : path).join('.');
}
