import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configurableClients } from '../../../server/connect/client-files.ts';
import { strongerSettings } from '../../../server/connect/stronger-settings.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { clientSettings } from './client-settings.ts';

const elsewhere = 'http://elsewhere.invalid';
const model = 'acme/gpt-5';

interface Rivalry {
  client: string;
  /** The person's own file, as the client reads it. */
  path: string;
  text: string;
  /** What the client prefers to the settings that Sluice writes. */
  settings: string[];
  /** Those of them that the change writes anew. */
  written?: string[];
}

/** In the files that Sluice writes. Each client that has such settings is among them. */
const inOwnFiles: readonly Rivalry[] = [
  ...[
    ['CLAUDE_CODE_USE_BEDROCK', '1'],
    ['CLAUDE_CODE_USE_VERTEX', 'true'],
    ['CLAUDE_CODE_USE_FOUNDRY', '1'],
    ['ANTHROPIC_UNIX_SOCKET', '/tmp/x'],
    ['ANTHROPIC_AUTH_TOKEN', 'mine'],
    ['ANTHROPIC_API_KEY', 'sk-ant-mine'],
    ['ANTHROPIC_SMALL_FAST_MODEL', 'theirs'],
    ['CLAUDE_CODE_SUBAGENT_MODEL', 'theirs'],
  ].map(([name = '', value]) => ({
    client: 'claude-code',
    path: '.claude/settings.json',
    text: JSON.stringify({ env: { [name]: value, BASH_DEFAULT_TIMEOUT_MS: '1' }, permissions: {} }, null, 2),
    settings: [`env.${name}`],
  })),
  ...['apiKeyHelper', 'forceLoginMethod'].map((name) => ({
    client: 'claude-code',
    path: '.claude/settings.json',
    text: JSON.stringify({ [name]: 'echo mine', model: 'opus' }),
    settings: [name],
    ...(name === 'apiKeyHelper' && { written: [name] }),
  })),
  {
    client: 'codex',
    path: '.codex/config.toml',
    text: 'profile = "work"\n\n[profiles.work]\nmodel = "o3"\nmodel_provider = "azure"\napproval_policy = "never"\n',
    settings: ['profiles.work.model_provider', 'profiles.work.model'],
  },
  {
    client: 'codex',
    path: '.codex/config.toml',
    text: '[model_providers.sluice]\nname = "Mine"\nexperimental_bearer_token = "mine"\nrequest_max_retries = 2\n',
    settings: ['model_providers.sluice.experimental_bearer_token'],
  },
  {
    client: 'gemini-cli',
    path: '.gemini/settings.json',
    text: '{ "security": { "auth": { "enforcedType": "oauth-personal", "useExternal": true } }, "ui": {} }\n',
    settings: ['security.auth.enforcedType', 'security.auth.useExternal'],
  },
  {
    client: 'gemini-cli',
    path: '.gemini/.env',
    text: '# mine\nexport GEMINI_MODEL="theirs"\nGOOGLE_GENAI_USE_VERTEXAI=true # at work\nA=1\n',
    settings: ['GEMINI_MODEL', 'GOOGLE_GENAI_USE_VERTEXAI'],
  },
  {
    client: 'opencode',
    path: '.config/opencode/opencode.jsonc',
    text: '{ "agent": { "build": { "model": "corp/theirs" } }, "disabled_providers": ["corp", "sluice"] }\n',
    settings: ['disabled_providers.1', 'agent.build.model'],
  },
  {
    client: 'qwen-code',
    path: '.qwen/settings.json',
    text: '{ "security": { "auth": { "enforcedType": "qwen-oauth" } }, "proxy": "http://p", "env": { "OPENAI_MODEL": "x" } }\n',
    settings: ['security.auth.enforcedType', 'proxy', 'env.OPENAI_MODEL'],
  },
  { client: 'qwen-code', path: '.qwen/.env', text: 'QWEN_MODEL=theirs\nB=2\n', settings: ['QWEN_MODEL'] },
  {
    client: 'zed',
    path: '.config/zed/settings.json',
    text: '// mine\n{\n  "disable_ai": true,\n  "vim_mode": true,\n}\n',
    settings: ['disable_ai'],
  },
  {
    client: 'vscode-copilot',
    path: '.config/Code/User/settings.json',
    text: '{\n\t"chat.disableAIFeatures": true, // quiet\n\t"editor.tabSize": 2\n}\n',
    settings: ['chat.disableAIFeatures'],
  },
  {
    client: 'aider',
    path: '.aider.conf.yml',
    text: '# mine\nopenai-api-key: mine\ndark-mode: true   # always\nset-env:\n- OPENAI_BASE_URL=http://x\n- A=1\n',
    settings: ['openai-api-key', 'set-env.0'],
    written: ['openai-api-key'],
  },
  {
    client: 'aider',
    path: '.aider.model.settings.yml',
    text: `- name: openai/${model}\n  extra_params:\n    api_base: ${elsewhere}\n    timeout: 9\n`,
    settings: ['0.extra_params.api_base'],
  },
  {
    client: 'aider',
    path: '.env',
    text: 'AIDER_MODEL=sonnet\nOPENAI_API_KEY=mine\nC=3\n',
    settings: ['AIDER_MODEL', 'OPENAI_API_KEY'],
  },
  {
    client: 'librechat',
    path: 'LibreChat/librechat.yaml',
    text: 'version: 1.3.0\nmodelSpecs:\n  enforce: true\n  list: []\n',
    settings: ['modelSpecs.enforce'],
  },
];

let home: string;
let gateway: TestGateway;
const read = (path: string) => readFileSync(join(home, path), 'utf8');
function write(path: string, text: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
}
const start = (env: Record<string, string> = {}) =>
  startGateway({
    config: { keys: [{ id: 'tool', group: 'default', secret: 'env:TOOL_KEY' }] },
    ports: { env: { HOME: home, TOOL_KEY: 'sk-sluice-of-the-tool-0123456789', ...env } },
  });
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'sluice-rivals-'));
  mkdirSync(join(home, 'LibreChat'));
  gateway = await start();
});
afterEach(async () => {
  await gateway.stop();
  rmSync(home, { recursive: true, force: true });
});
const preview = (client: string) => gateway.gateway.query({ type: 'connect-preview', client, key: 'tool', model });
const appliedTo = async (client: string) =>
  (await gateway.gateway.query({ type: 'connect-clients' })).find((each) => each.client === client)?.applied;

describe('a setting of the client’s own file that it prefers to Sluice’s', () => {
  it.each(inOwnFiles)('is named, taken out by the same change, and put back: $client $settings', async (rivalry) => {
    const { client, path, text, settings, written = [] } = rivalry;
    write(path, text);
    const { overruled, stronger, fingerprint, files } = await preview(client);
    const takenOut = settings.filter((setting) => !written.includes(setting));
    expect(overruled).toEqual(takenOut.map((setting) => ({ place: `~/${path}`, setting })));
    expect(stronger).toEqual([]);
    expect(files.find((file) => file.path === `~/${path}`)?.action).toBe('change');
    expect(read(path)).toBe(text);
    await gateway.gateway.execute({ type: 'connect.apply', client, key: 'tool', model, fingerprint });
    expect(await appliedTo(client)).toMatchObject({ model, stronger: [] });
    expect((await preview(client)).files.map(({ action }) => action)).not.toContain('change');
    const undone = await gateway.gateway.query({ type: 'connect-undo-preview', client });
    await gateway.gateway.execute({ type: 'connect.undo', client, fingerprint: undone.fingerprint });
    expect(read(path)).toBe(text);
  });

  it.each(inOwnFiles)('that was added since is told where Sluice says "set up": $client $settings', async (rivalry) => {
    const { client, path, text, settings } = rivalry;
    const { fingerprint } = await preview(client);
    await gateway.gateway.execute({ type: 'connect.apply', client, key: 'tool', model, fingerprint });
    write(path, text);
    expect((await appliedTo(client))?.stronger).toEqual(
      expect.arrayContaining(settings.map((setting) => ({ place: `~/${path}`, setting }))),
    );
  });

  it('is not invented: realistic files of all clients hold none', async () => {
    for (const [path, text] of Object.entries(clientSettings)) write(path, text);
    for (const { id } of configurableClients) {
      const { overruled, stronger } = await preview(id);
      expect([id, overruled, stronger]).toEqual([id, [], []]);
    }
  });

  it('is known of every client but those whose choice of a model is made in the client', () => {
    const known = new Set(inOwnFiles.map(({ client }) => client));
    expect(configurableClients.map(({ id }) => id).filter((id) => !known.has(id))).toEqual(['continue']);
  });

  it('leaves the provider lists of opencode and the endpoints of LibreChat, with Sluice in them', async () => {
    write('.config/opencode/opencode.json', '{ "enabled_providers": ["corp"] }\n');
    write('LibreChat/.env', 'ENDPOINTS="openAI,google" # ours\nA=1\n');
    for (const client of ['opencode', 'librechat']) {
      const { fingerprint } = await preview(client);
      await gateway.gateway.execute({ type: 'connect.apply', client, key: 'tool', model, fingerprint });
    }
    expect(JSON.parse(read('.config/opencode/opencode.json')).enabled_providers).toEqual(['corp', 'sluice']);
    expect(read('LibreChat/.env')).toContain('ENDPOINTS="openAI,google,custom" # ours');
  });
});

/** In places that Sluice does not change. `at` is below the project's folder, unless it is absolute. */
const inOtherPlaces: readonly { client: string; at: string; text: string; setting: string }[] = [
  {
    client: 'claude-code',
    at: '/etc/claude-code/managed-settings.json',
    text: '{"env":{"ANTHROPIC_BASE_URL":"http://x"}}',
    setting: 'env.ANTHROPIC_BASE_URL',
  },
  {
    client: 'claude-code',
    at: '/etc/claude-code/managed-settings.d/1.json',
    text: '{"forceLoginMethod":"console"}',
    setting: 'forceLoginMethod',
  },
  {
    client: 'claude-code',
    at: '.claude/settings.local.json',
    text: '{"env":{"CLAUDE_CODE_USE_VERTEX":"1"}}',
    setting: 'env.CLAUDE_CODE_USE_VERTEX',
  },
  {
    client: 'claude-code',
    at: '.claude/settings.json',
    text: '{"env":{"ANTHROPIC_MODEL":"theirs"}}',
    setting: 'env.ANTHROPIC_MODEL',
  },
  {
    client: 'claude-code',
    at: '~/.claude.json',
    text: '{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}',
    setting: 'env.CLAUDE_CODE_USE_BEDROCK',
  },
  {
    client: 'codex',
    at: '/etc/codex/managed_config.toml',
    text: 'model_provider = "corp"\n',
    setting: 'model_provider',
  },
  { client: 'codex', at: '.codex/config.toml', text: 'model = "o3"\n', setting: 'model' },
  {
    client: 'gemini-cli',
    at: '/etc/gemini-cli/settings.json',
    text: '{"security":{"auth":{"enforcedType":"oauth-personal"}}}',
    setting: 'security.auth.enforcedType',
  },
  {
    client: 'gemini-cli',
    at: '.gemini/settings.json',
    text: '{"security":{"auth":{"selectedType":"vertex-ai"}}}',
    setting: 'security.auth.selectedType',
  },
  {
    client: 'gemini-cli',
    at: '.env',
    text: `GOOGLE_GEMINI_BASE_URL="${elsewhere}"\n`,
    setting: 'GOOGLE_GEMINI_BASE_URL',
  },
  {
    client: 'opencode',
    at: '/etc/opencode/opencode.json',
    text: '{"enabled_providers":["corp"]}',
    setting: 'enabled_providers',
  },
  { client: 'opencode', at: 'opencode.json', text: '{"model":"corp/theirs"}', setting: 'model' },
  {
    client: 'opencode',
    at: '.opencode/opencode.jsonc',
    text: '{"provider":{"sluice":{"name":"x"}}}',
    setting: 'provider.sluice',
  },
  {
    client: 'qwen-code',
    at: '/etc/qwen-code/settings.json',
    text: '{"security":{"auth":{"enforcedType":"qwen-oauth"}}}',
    setting: 'security.auth.enforcedType',
  },
  { client: 'qwen-code', at: '.qwen/settings.json', text: '{"model":{"name":"theirs"}}', setting: 'model.name' },
  { client: 'qwen-code', at: '.env', text: 'OPENAI_MODEL=theirs\n', setting: 'OPENAI_MODEL' },
  {
    client: 'continue',
    at: '~/.continue/config.yaml',
    text: `requestOptions:\n  proxy: ${elsewhere}\n`,
    setting: 'requestOptions.proxy',
  },
  { client: 'zed', at: '.zed/settings.json', text: '{"disable_ai":true}', setting: 'disable_ai' },
  {
    client: 'vscode-copilot',
    at: '.vscode/settings.json',
    text: '{"chat.disableAIFeatures":true}',
    setting: 'chat.disableAIFeatures',
  },
  { client: 'aider', at: '.aider.conf.yml', text: 'model: sonnet\n', setting: 'model' },
  { client: 'aider', at: '.env', text: 'OPENAI_API_KEY=mine\n', setting: 'OPENAI_API_KEY' },
  {
    client: 'aider',
    at: '.aider.model.settings.yml',
    text: `- name: aider/extra_params\n  extra_params: { api_base: "${elsewhere}" }\n`,
    setting: '0.extra_params.api_base',
  },
  {
    client: 'librechat',
    at: '~/LibreChat/.env',
    text: 'CONFIG_PATH=https://x/librechat.yaml\n',
    setting: 'CONFIG_PATH',
  },
];

const sought = { origin: 'http://127.0.0.1:4810', model };
const around = (env: Record<string, string>, files: Record<string, string> = {}) => ({
  env,
  home: '/home/me',
  folder: '/home/me/code/app',
  platform: 'linux' as const,
  readFile: async (path: string) => files[path] ?? null,
  listFolder: async (path: string) =>
    Object.keys(files)
      .filter((each) => dirname(each) === path)
      .map((each) => each.slice(path.length + 1)),
});

describe('a setting of another place that the client prefers', () => {
  it.each(inOtherPlaces)('is named: $client $at $setting', async ({ client, at, text, setting }) => {
    const place = at.startsWith('/') || at.startsWith('~') ? at : `~/code/app/${at}`;
    const path = place.replace('~', '/home/me');
    expect(await strongerSettings(client, around({}, { [path]: text }), sought)).toEqual([{ place, setting }]);
  });

  it.each([
    ['claude-code', { CLAUDE_CODE_USE_BEDROCK: '1' }, 'CLAUDE_CODE_USE_BEDROCK'],
    ['claude-code', { CLAUDE_CODE_SUBAGENT_MODEL: 'theirs' }, 'CLAUDE_CODE_SUBAGENT_MODEL'],
    ['gemini-cli', { GEMINI_MODEL: 'theirs' }, 'GEMINI_MODEL'],
    ['gemini-cli', { GOOGLE_GEMINI_BASE_URL: elsewhere }, 'GOOGLE_GEMINI_BASE_URL'],
    ['opencode', { OPENCODE_CONFIG_CONTENT: '{"model":"corp/x"}' }, 'OPENCODE_CONFIG_CONTENT model'],
    ['qwen-code', { HTTPS_PROXY: elsewhere }, 'HTTPS_PROXY'],
    ['aider', { AIDER_OPENAI_API_BASE: `${elsewhere}/v1` }, 'AIDER_OPENAI_API_BASE'],
    ['aider', { OPENAI_BASE_URL: `${elsewhere}/v1` }, 'OPENAI_BASE_URL'],
  ])('is named where it is a variable of %s: %o', async (client, env, setting) => {
    expect(await strongerSettings(client, around(env), sought)).toEqual([{ place: null, setting }]);
  });

  it.each(['0', 'false', ''])('is none where it is switched off by "%s"', async (value) => {
    expect(await strongerSettings('claude-code', around({ CLAUDE_CODE_USE_BEDROCK: value }), sought)).toEqual([]);
  });

  it('is none where it leads to Sluice', async () => {
    const env = { GOOGLE_GEMINI_BASE_URL: `${sought.origin}/`, GEMINI_MODEL: model };
    expect(await strongerSettings('gemini-cli', around(env), sought)).toEqual([]);
  });

  it('is told with the change and wherever Sluice says "set up", without its value', async () => {
    await gateway.stop();
    gateway = await start({ CLAUDE_CODE_USE_BEDROCK: '1' });
    const { fingerprint, stronger } = await preview('claude-code');
    expect(stronger).toEqual([{ place: null, setting: 'CLAUDE_CODE_USE_BEDROCK' }]);
    await gateway.gateway.execute({ type: 'connect.apply', client: 'claude-code', key: 'tool', model, fingerprint });
    expect((await appliedTo('claude-code'))?.stronger).toEqual(stronger);
  });
});
