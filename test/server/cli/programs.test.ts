/** What `sluice run` passes to programs whose settings lead elsewhere. `run-programs.test.ts` runs the real ones. */
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CliError, exitCodes } from '../../../server/cli/programs/exit-codes.ts';
import { prepareProgram } from '../../../server/cli/programs/prepare-program.ts';
import type { PreparedProgram } from '../../../server/cli/programs/program-context.ts';
import { claudeSwitches } from '../../../server/connect/rival-settings.ts';
import { toolEnvironment, withTool } from '../../../server/connect/tool-environment.ts';
import { elsewhere, hostilePrograms } from './hostile-settings.ts';

const access = { origin: 'http://127.0.0.1:4810', key: 'sk-sluice-secret', model: 'groq/gpt' };
const home = '/home/me';
const folder = '/home/me/projects/deep';

interface Given {
  parameters?: string[];
  files?: Record<string, string>;
  present?: Record<string, string>;
  platform?: NodeJS.Platform | undefined;
  model?: string | undefined;
  /** The owner and mode of folders; others are root's alone. */
  folders?: Record<string, { uid: number; mode: number }>;
}

function prepare(command: string, given: Given = {}): Promise<PreparedProgram> {
  const { parameters = ['hi'], files = {}, present = {}, platform = 'linux' } = given;
  const model = 'model' in given ? given.model : access.model;
  return prepareProgram(command, {
    access: { ...access, model },
    models: ['groq/gpt', 'other'],
    usualModel: async () => 'usual',
    parameters,
    present,
    home,
    folder,
    platform,
    readFile: async (path) => files[path] ?? null,
    runFolder: `${home}/.sluice`,
    stat: async (path) => given.folders?.[path] ?? { uid: 0, mode: 0o40755 },
    listFolder: async (path) =>
      Object.keys(files).flatMap((file) => (dirname(file) === path ? [file.slice(path.length + 1)] : [])),
  });
}

/** Addresses of services that only the switches turn on, which are unset. */
const unused = /^ANTHROPIC_(BEDROCK|VERTEX|FOUNDRY)_BASE_URL$/;

/** Everything that the program is told. */
function told(prepared: PreparedProgram, present: Record<string, string> = {}): string {
  const env = Object.entries({ ...withTool(present, toolEnvironment(access, present)), ...prepared.env });
  return JSON.stringify([prepared, env.filter(([name]) => !unused.test(name))]);
}

/** In the home folder, in the working directory and above it. */
const everywhere = (files: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(files).flatMap(([name, text]) =>
      [home, folder, dirname(folder)].map((at) => [join(at, name), text]),
    ),
  );

describe.each(hostilePrograms)('$command', ({ command, files, shell, refusedParameters, managed }) => {
  test('is led to Sluice by all that it reads last, whatever files and shell say', async () => {
    const prepared = await prepare(command, { files: everywhere(files), present: shell });
    expect(told(prepared, shell)).not.toContain(elsewhere);
    expect(told(prepared, shell)).toContain(access.origin);
    expect(prepared.parameters.at(-1)).toBe('hi');
  });

  test('gets no secret among its arguments, which others can see', async () => {
    const prepared = await prepare(command, { files: everywhere(files) });
    expect(prepared.parameters.join(' ')).not.toContain(access.key);
  });

  test.runIf(refusedParameters.length > 0).each(refusedParameters)('is not started with %s', async (...line) => {
    const refused = prepare(command, { parameters: [...line, 'hi'] });
    await expect(refused).rejects.toThrow(new RegExp(`${line[0]?.split('=')[0]}.*without "sluice run"`));
    await expect(refused).rejects.toMatchObject({ exitCode: exitCodes.usage });
  });

  test('takes these words as its prompt after "--"', async () => {
    const line = ['--', ...refusedParameters.flat()];
    expect((await prepare(command, { parameters: line })).parameters.slice(-line.length)).toEqual(line);
  });

  test.runIf(managed.length > 0).each(managed)(
    'is refused where the managed $path sets $setting',
    async ({ path, text, setting, platform }) => {
      const refused = prepare(command, { files: { [path]: text }, platform });
      await expect(refused).rejects.toThrow(CliError);
      await expect(refused).rejects.toThrow(`${path} sets ${setting}`);
    },
  );

  test.runIf(managed.length > 0).each(managed)(
    'is refused where the managed $path cannot be read',
    async ({ path, platform }) => {
      await expect(prepare(command, { files: { [path]: '{ "broken' }, platform })).rejects.toThrow(path);
    },
  );
});

describe('Claude Code', () => {
  const settingsOf = ({ parameters }: PreparedProgram) => JSON.parse(parameters[1] ?? '');

  test.each([
    ['inline', ['--settings', '{"env":{"ANTHROPIC_BASE_URL":"http://elsewhere","MINE":"1"},"model":"opus"}']],
    ['with =', ['--settings={"env":{"ANTHROPIC_BASE_URL":"http://elsewhere","MINE":"1"},"model":"opus"}']],
    ['in a file', ['--settings', 'mine.json']],
  ])('keeps the settings that the person passes %s, but for where they lead', async (_, own) => {
    const files = {
      [join(folder, 'mine.json')]: '{"env":{"ANTHROPIC_BASE_URL":"http://elsewhere","MINE":"1"},"model":"opus"}',
    };
    const prepared = await prepare('claude', { parameters: ['-p', ...own, 'hi'], files });
    expect(settingsOf(prepared)).toMatchObject({
      model: 'opus',
      env: { MINE: '1', ANTHROPIC_BASE_URL: access.origin, ANTHROPIC_MODEL: 'groq/gpt' },
    });
    expect(prepared.parameters.slice(2)).toEqual(['-p', 'hi']);
  });

  test('is not started with settings that cannot be read', async () => {
    await expect(prepare('claude', { parameters: ['--settings', 'none.json'] })).rejects.toThrow('no such file');
    await expect(prepare('claude', { parameters: ['--settings', '{"x'] })).rejects.toThrow('cannot be read');
  });

  test('asks the model that "connect --write" has set where none is named, and the named one otherwise', async () => {
    const files = {
      [join(home, '.claude/settings.json')]:
        '{"env":{"ANTHROPIC_MODEL":"connected","ANTHROPIC_BASE_URL":"http://old"}}',
    };
    const unnamed = await prepare('claude', { files, model: undefined });
    expect(unnamed.env.ANTHROPIC_MODEL).toBe('connected');
    expect(settingsOf(unnamed).env).toMatchObject({ ANTHROPIC_MODEL: 'connected', ANTHROPIC_BASE_URL: access.origin });
    const named = await prepare('claude', { files });
    expect(named.env).not.toHaveProperty('ANTHROPIC_MODEL');
    expect(settingsOf(named).env.ANTHROPIC_MODEL).toBe('groq/gpt');
  });

  test('still reaches the internet by the proxy of the person’s settings, but not by that of a project', async () => {
    const files = {
      [join(home, '.claude/settings.json')]: '{"env":{"HTTPS_PROXY":"http://corp:1","NO_PROXY":"intranet"}}',
      [join(folder, '.claude/settings.json')]: '{"env":{"HTTPS_PROXY":"http://project:1"}}',
    };
    expect((await prepare('claude', { files })).env).toMatchObject({
      HTTPS_PROXY: 'http://corp:1',
      NO_PROXY: 'intranet,127.0.0.1,localhost',
      no_proxy: 'intranet,127.0.0.1,localhost',
    });
  });

  test.each(['.claude.json', '.claude/settings.json', 'projects/deep/.claude/settings.json'])(
    'is refused where ~/%s names a socket, which nothing can take back',
    async (name) => {
      const files = { [join(home, name)]: '{"env":{"ANTHROPIC_UNIX_SOCKET":"/tmp/s"}}' };
      await expect(prepare('claude', { files })).rejects.toThrow(`${join(home, name)} sets env.ANTHROPIC_UNIX_SOCKET`);
    },
  );

  test('is started where managed settings lead to this Sluice or do not matter', async () => {
    const text = JSON.stringify({ env: { ANTHROPIC_BASE_URL: access.origin, CLAUDE_CODE_USE_BEDROCK: '0', X: '1' } });
    await expect(
      prepare('claude', { files: { '/etc/claude-code/managed-settings.json': text } }),
    ).resolves.toBeTruthy();
  });

  test.each(claudeSwitches)('%s of the shell is unset', (name) => {
    expect(withTool({ [name]: '1' }, toolEnvironment(access, { [name]: '1' }))).not.toHaveProperty(name);
  });

  test.each([
    ['ENABLE_TOOL_SEARCH', 'true', 'auto:5'],
    ['CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY', '1', '0'],
  ])('sets %s, and keeps what the person has chosen for it', (name, value, own) => {
    expect(toolEnvironment(access, {}).get(name)).toBe(value);
    expect(toolEnvironment(access, { [name]: own }).get(name)).toBe(own);
  });
});

describe('others', () => {
  test('Gemini CLI and Qwen Code keep the other rules of the machine', async () => {
    for (const [command, path] of [
      ['gemini', '/etc/gemini-cli/settings.json'],
      ['qwen', '/etc/qwen-code/settings.json'],
    ] as const) {
      const files = { [path]: '{ "telemetry": { "enabled": false } } // ours' };
      const { file } = await prepare(command, { files });
      expect(JSON.parse(file?.text ?? '')).toMatchObject({ telemetry: { enabled: false } });
    }
  });

  test('Gemini CLI tells of a sign-in that outranks a run where it skips the settings of the run', async () => {
    const own = { [home]: { uid: 1000, mode: 0o40700 } };
    const shared = { '/home': { uid: 0, mode: 0o41777 } };
    const signIn = (selectedType: string) => JSON.stringify({ security: { auth: { selectedType } } });
    const ofPerson = join(home, '.gemini/settings.json');
    const ofProject = join(folder, '.gemini/settings.json');
    const warning = async (given: Given) => (await prepare('gemini', given)).warning;
    const google = { [ofPerson]: signIn('oauth-personal') };
    for (const folders of [own, shared]) {
      expect(await warning({ folders, files: google })).toMatch(
        /settings\.json names the sign-in "oauth-personal".*\/auth/,
      );
      expect(await warning({ folders, files: { ...google, [ofProject]: signIn('gemini-api-key') } })).toBeUndefined();
      expect(await warning({ folders, files: { [ofProject]: signIn('vertex-ai') } })).toContain(ofProject);
      expect(await warning({ folders })).toBeUndefined();
    }
    expect(await warning({ files: google })).toBeUndefined();
    expect(await warning({ folders: own, files: google, platform: 'win32' })).toBeUndefined();
  });

  test('Aider and Continue keep the person’s other settings', async () => {
    const files = {
      [join(home, '.aider.model.settings.yml')]: '- name: aider/extra_params\n  extra_params: { timeout: 30 }\n',
      [join(home, '.continue/config.yaml')]: 'name: Mine\nrules: [Be brief]\nmodels: []\n',
    };
    expect(JSON.parse((await prepare('aider', { files })).file?.text ?? '')).toMatchObject([
      { extra_params: { timeout: 30, api_base: `${access.origin}/v1`, api_key: access.key } },
    ]);
    const { file } = await prepare('cn', { files, model: undefined });
    expect(JSON.parse(file?.text ?? '')).toMatchObject({
      name: 'Mine',
      rules: ['Be brief'],
      models: [{ model: 'usual' }, {}, {}],
    });
  });

  test('a profile of an earlier Codex asks Sluice too', async () => {
    const files = {
      [join(home, '.codex/config.toml')]: '[profiles."my work"]\nmodel_provider = "azure"\nmodel = "x"\n',
    };
    expect((await prepare('codex', { files })).parameters).toEqual(
      expect.arrayContaining(['profiles."my work".model_provider="sluice"', 'profiles."my work".model="groq/gpt"']),
    );
  });

  test('opencode keeps what the person has in OPENCODE_CONFIG_CONTENT', async () => {
    const { env } = await prepare('opencode', { present: { OPENCODE_CONFIG_CONTENT: '{"theme":"mine"}' } });
    expect(JSON.parse(env.OPENCODE_CONFIG_CONTENT ?? '')).toMatchObject({ theme: 'mine', model: 'sluice/groq/gpt' });
  });

  test('a program that Sluice does not know keeps its arguments', async () => {
    expect(await prepare('/usr/bin/python3', { parameters: ['--config', 'x'] })).toEqual({
      parameters: ['--config', 'x'],
      env: {},
    });
  });

  test('a program is known by its name, wherever it is and however Windows calls it', async () => {
    for (const command of ['/opt/bin/claude', 'claude.cmd', 'claude.exe']) {
      expect((await prepare(command)).parameters[0]).toBe('--settings');
    }
  });
});
