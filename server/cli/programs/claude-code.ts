/**
 * Claude Code lets the `env` block of a settings file override the environment. `--settings` overrides those of user,
 * project and local settings, and CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST, which every program of a run gets, makes
 * versions that know it ignore what they say about providers, also where a script starts Claude Code.
 * Source: code.claude.com/docs/en/settings and /env-vars; tried with 2.1.197.
 */
import { join, resolve } from 'node:path';
import { jsonFormat } from '../../connect/json-format.ts';
import { managedPath } from '../../connect/managed-paths.ts';
import { type ClientSettings, mergeSettings, sectionOf } from '../../connect/merge-settings.ts';
import { claudeModelVariables, claudeSwitches, rivalsOfClaudeCode } from '../../connect/rival-settings.ts';
import { withoutProxy } from '../../connect/tool-environment.ts';
import { CliError, exitCodes } from './exit-codes.ts';
import { contrary, findOptions, type PreparedProgram, type ProgramContext, withoutOption } from './program-context.ts';
import { outranked, readManaged, readProgramSettings } from './settings-files.ts';

const program = 'Claude Code';

export async function prepareClaudeCode(context: ProgramContext): Promise<PreparedProgram> {
  await refuseManaged(context);
  const { settings: own, parameters } = await ownSettings(context);
  await refuseSocket(context, sectionOf(own, 'env'));
  const kept = await keptVariables(context, sectionOf(own, 'env'));
  const settings = mergeSettings(own, { env: { ...kept, ...forcedVariables(context, kept) }, apiKeyHelper: '' });
  return {
    parameters: ['--settings', JSON.stringify(settings), ...parameters],
    env: { ...kept, no_proxy: kept.NO_PROXY ?? '' },
  };
}

/** Contains no secret, because other users of the machine can see arguments. */
function forcedVariables({ access: { origin, model } }: ProgramContext, kept: Readonly<Record<string, string>>) {
  const models = model ? claudeModelVariables.map((name): [string, string] => [name, model]) : [];
  return {
    ...Object.fromEntries(claudeSwitches.map((name) => [name, ''])),
    ANTHROPIC_BASE_URL: origin,
    no_proxy: kept.NO_PROXY,
    ...Object.fromEntries(models),
  };
}

/** The settings that the person passes for this run; only one such option counts. */
async function ownSettings({ parameters, folder, readFile }: ProgramContext) {
  let rest = [...parameters];
  let text: string | undefined;
  for (const found of findOptions(parameters, ['--settings']).toReversed()) {
    text ??= found.value ?? '';
    rest = withoutOption(rest, found);
  }
  if (text === undefined) return { settings: {}, parameters: rest };
  const isInline = text.trimStart().startsWith('{');
  const content = isInline ? text : await readFile(resolve(folder, text)).catch(() => null);
  try {
    if (content === null) throw new Error('there is no such file');
    return { settings: jsonFormat.parse(content), parameters: rest };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(`--settings cannot be read: ${reason}.`, exitCodes.usage);
  }
}

function settingsPaths({ present, home, folder }: ProgramContext) {
  return {
    global: join(present.CLAUDE_CONFIG_DIR || home, '.claude.json'),
    user: join(present.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json'),
    project: join(folder, '.claude', 'settings.json'),
    local: join(folder, '.claude', 'settings.local.json'),
  };
}

/** Once a settings file names a socket, no later one can take it back: all requests go there, with the key. */
async function refuseSocket(context: ProgramContext, own: ClientSettings): Promise<void> {
  const setting = 'env.ANTHROPIC_UNIX_SOCKET';
  if (own.ANTHROPIC_UNIX_SOCKET) throw contrary(program, `--settings with ${setting}`);
  for (const path of Object.values(settingsPaths(context))) {
    const env = sectionOf(await readProgramSettings(context, path, jsonFormat), 'env');
    if (env.ANTHROPIC_UNIX_SOCKET) throw outranked({ program, path, setting });
  }
}

/** What a managed host makes Claude Code ignore although it leads nowhere else. */
const harmless = ['HTTP_PROXY', 'HTTPS_PROXY', 'DISABLE_GROWTHBOOK', 'CLAUDE_CODE_CERT_STORE'];

/**
 * Variables of the settings files that must stay in force: how the person reaches the internet, and, if no model is
 * named, theirs. A project cannot set how the internet is reached, because it may not be trusted.
 */
async function keptVariables(context: ProgramContext, own: ClientSettings): Promise<Record<string, string>> {
  const { access, present } = context;
  const paths = settingsPaths(context);
  const envOf = async (path: string) => sectionOf(await readProgramSettings(context, path, jsonFormat), 'env');
  const [user, project, local] = [await envOf(paths.user), await envOf(paths.project), await envOf(paths.local)];
  const named = access.model ? [] : claudeModelVariables;
  const noProxy = own.NO_PROXY ?? user.NO_PROXY ?? present.NO_PROXY ?? present.no_proxy;
  return {
    ...picked({ ...user, ...own }, harmless),
    ...picked({ ...user, ...project, ...local, ...own }, named),
    NO_PROXY: withoutProxy(typeof noProxy === 'string' ? noProxy : undefined, new URL(access.origin).hostname),
  };
}

function picked(settings: ClientSettings, names: readonly string[]): Record<string, string> {
  const entries = names.map((name) => [name, settings[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** Managed settings outrank `--settings`; versions that ignore them here would bypass an organisation's rule. */
async function refuseManaged(context: ProgramContext): Promise<void> {
  const { access, platform, present, listFolder } = context;
  const folder = managedPath('claude-code', platform, present) ?? '';
  const dropIns = (await listFolder(join(folder, 'managed-settings.d'))).filter((name) => name.endsWith('.json'));
  const paths = ['managed-settings.json', ...dropIns.map((name) => join('managed-settings.d', name))];
  for (const path of paths.map((name) => join(folder, name))) {
    const [rival] = rivalsOfClaudeCode(await readManaged(context, path, jsonFormat), access);
    if (rival !== undefined) throw outranked({ program, path, setting: rival.join('.') });
  }
}
