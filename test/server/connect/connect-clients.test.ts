import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configurableClients } from '../../../server/connect/client-files.ts';
import type { AppliedConnection } from '../../../server/contract/connect-views.ts';
import { hashOf, startGateway, type TestGateway } from '../../support/gateway.ts';
import { clientSettings } from './client-settings.ts';

let home: string;
let gateway: TestGateway;
const key = 'tool';
const secret = 'sk-sluice-of-the-tool-0123456789';
const onceSecret = 'sk-sluice-shown-once-0123456789';
const model = 'acme/gpt-5';

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'sluice-home-'));
  gateway = await start();
});
afterEach(async () => {
  await gateway.stop();
  rmSync(home, { recursive: true, force: true });
});

function start(env: Record<string, string> = {}, folder?: string): Promise<TestGateway> {
  const keys = [
    { id: key, group: 'default', secret: 'env:TOOL_KEY' },
    { id: 'once', group: 'default', hash: hashOf(onceSecret) },
  ];
  const ports = { env: { HOME: home, TOOL_KEY: secret, ...env } };
  return startGateway({ config: { keys }, ports, ...(folder && { folder }) });
}

const read = (path: string) => readFileSync(join(home, path), 'utf8');
function write(path: string, text: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
}
function writeAll(): void {
  for (const [path, text] of Object.entries(clientSettings)) write(path, text);
}

const preview = (client: string, asked = model) =>
  gateway.gateway.query({ type: 'connect-preview', client, key, model: asked });
async function apply(client: string, asked = model) {
  const { fingerprint } = await preview(client, asked);
  await gateway.gateway.execute({ type: 'connect.apply', client, key, model: asked, fingerprint });
}
async function undo(client: string) {
  const { fingerprint } = await gateway.gateway.query({ type: 'connect-undo-preview', client });
  await gateway.gateway.execute({ type: 'connect.undo', client, fingerprint });
}
async function appliedTo(client: string): Promise<AppliedConnection | null | undefined> {
  const clients = await gateway.gateway.query({ type: 'connect-clients' });
  return clients.find((each) => each.client === client)?.applied;
}

describe.each(configurableClients.map(({ id }) => id))('%s', (client) => {
  it('changes only what it shows, and takes it back to the byte', async () => {
    writeAll();
    const { files } = await preview(client);
    expect(files.map(({ action }) => action)).toEqual(files.map(() => 'change'));
    for (const { diff } of files)
      expect(
        diff
          .split('\n')
          .slice(2)
          .filter((line) => line.startsWith('+')),
      ).not.toEqual([]);
    expect(files.map(({ path }) => read(path.slice(2)))).toEqual(
      files.map(({ path }) => clientSettings[path.slice(2)]),
    );
    await apply(client);
    const comments = files.flatMap(({ path }) => clientSettings[path.slice(2)]?.match(/(#|\/\/) [\w ]+/g) ?? []);
    for (const comment of comments) expect(files.map(({ path }) => read(path.slice(2))).join()).toContain(comment);
    expect(await appliedTo(client)).toMatchObject({ keyId: key, model });
    await undo(client);
    for (const { path } of files) expect(read(path.slice(2))).toBe(clientSettings[path.slice(2)]);
    expect(await appliedTo(client)).toBeNull();
  });

  it('makes its files where there are none, and removes them and their folders again', async () => {
    mkdirSync(join(home, 'LibreChat'));
    const { files } = await preview(client);
    expect(files.map(({ action }) => action)).toEqual(files.map(() => 'create'));
    await apply(client);
    for (const { path } of files) expect(statSync(join(home, path.slice(2))).mode & 0o777).toBe(0o600);
    await undo(client);
    for (const { path } of files) expect(existsSync(join(home, path.slice(2)))).toBe(false);
    expect(existsSync(join(home, '.codex')) || existsSync(join(home, '.config'))).toBe(false);
  });

  it('takes the first change back after a second one to another model', async () => {
    writeAll();
    await apply(client);
    await apply(client, 'acme/other');
    const { files } = await gateway.gateway.query({ type: 'connect-undo-preview', client });
    await undo(client);
    for (const { path } of files) expect(read(path.slice(2))).toBe(clientSettings[path.slice(2)]);
  });
});

describe('taking back', () => {
  it('keeps what another program has changed since then, line by line', async () => {
    writeAll();
    await apply('codex');
    write(
      '.codex/config.toml',
      `${read('.codex/config.toml').replace('"trusted"', '"untrusted"')}\n[tui]\ntheme = "x"\n`,
    );
    await undo('codex');
    const expected = clientSettings['.codex/config.toml']?.replace('"trusted"', '"untrusted"');
    expect(read('.codex/config.toml')).toBe(`${expected}\n[tui]\ntheme = "x"\n`);
  });

  it('keeps it if another program has rewritten the whole file', async () => {
    writeAll();
    await apply('claude-code');
    const settings = JSON.parse(read('.claude/settings.json'));
    settings.env.NEW = '1';
    settings.env.ANTHROPIC_MODEL = 'chosen since';
    write('.claude/settings.json', JSON.stringify(settings));
    await undo('claude-code');
    expect(JSON.parse(read('.claude/settings.json'))).toEqual({
      permissions: { allow: ['Bash(npm test)'] },
      env: { BASH_DEFAULT_TIMEOUT_MS: '90000', NEW: '1', ANTHROPIC_MODEL: 'chosen since' },
      model: 'opus',
    });
  });

  it('keeps a file that another program has added to since Sluice made it', async () => {
    await apply('qwen-code');
    write('.qwen/settings.json', JSON.stringify({ ...JSON.parse(read('.qwen/settings.json')), ui: { theme: 'x' } }));
    await undo('qwen-code');
    expect(JSON.parse(read('.qwen/settings.json'))).toEqual({ ui: { theme: 'x' } });
  });

  it('keeps what VS Code has added to its list of models since', async () => {
    const path = '.config/Code/User/chatLanguageModels.json';
    await apply('vscode-copilot');
    const added = { name: 'Mine', vendor: 'ollama', url: 'http://localhost:11434' };
    write(path, JSON.stringify([...JSON.parse(read(path)), added]));
    await undo('vscode-copilot');
    expect(JSON.parse(read(path))).toEqual([added]);
  });

  it('is remembered for each home folder that the data folder is used with', async () => {
    const otherHome = mkdtempSync(join(tmpdir(), 'sluice-home-'));
    await apply('codex');
    const mine = read('.codex/config.toml');
    const other = await start({ HOME: otherHome }, gateway.folder);
    const wanted = { client: 'codex', key, model } as const;
    const { fingerprint } = await other.gateway.query({ type: 'connect-preview', ...wanted });
    await other.gateway.execute({ type: 'connect.apply', ...wanted, fingerprint });
    await undo('codex');
    expect([existsSync(join(home, '.codex')), mine.includes('sluice')]).toEqual([false, true]);
    const undone = await other.gateway.query({ type: 'connect-undo-preview', client: 'codex' });
    await other.gateway.execute({ type: 'connect.undo', client: 'codex', fingerprint: undone.fingerprint });
    expect(existsSync(join(otherHome, '.codex'))).toBe(false);
    await other.stop();
    rmSync(otherHome, { recursive: true });
  });

  it('succeeds if the file is gone', async () => {
    await apply('codex');
    rmSync(join(home, '.codex'), { recursive: true });
    await undo('codex');
    expect(await appliedTo('codex')).toBeNull();
  });

  it('is remembered beyond a restart, with the file as it was beside it', async () => {
    writeAll();
    await apply('codex');
    expect(readFileSync(join(gateway.folder, 'connected', 'codex', 'config.toml'), 'utf8')).toBe(
      clientSettings['.codex/config.toml'],
    );
    const again = await start({}, gateway.folder);
    const { files } = await again.gateway.query({ type: 'connect-undo-preview', client: 'codex' });
    await again.stop();
    expect(files).toMatchObject([{ path: '~/.codex/config.toml', action: 'change' }]);
  });
});

describe('secrets', () => {
  it.each(configurableClients)('are left to no export where $id can read them: $keyPlace', async (client) => {
    const { id, keyPlace, keyVariable } = client;
    writeAll();
    const { files, keyVariable: told, keyFile } = await preview(id);
    expect([told, keyFile === null]).toEqual([keyPlace === null ? keyVariable : null, keyPlace !== 'file']);
    await apply(id);
    const holding = files.map(({ path }) => path.slice(2)).filter((path) => read(path).includes(secret));
    expect(holding.length > 0).toBe(keyPlace === 'settings');
    for (const path of holding) expect([path, statSync(join(home, path)).mode & 0o777]).toEqual([path, 0o600]);
    if (keyFile !== null) {
      expect([readFileSync(keyFile, 'utf8'), statSync(keyFile).mode & 0o777]).toEqual([secret, 0o600]);
      expect(files.map(({ path }) => read(path.slice(2))).join()).toContain(keyFile);
    }
    expect((await appliedTo(id))?.stronger).toEqual([]);
    await undo(id);
    expect(keyFile !== null && existsSync(keyFile)).toBe(false);
  });

  it('are told to be old where the file of a client has one that was rotated or revoked since', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-data-'));
    const { gateway: engine, stop } = await start({}, folder);
    const make = () => engine.execute({ type: 'key.create', id: 'made', name: 'made', group: 'default' });
    const isOld = async () => {
      const clients = await engine.query({ type: 'connect-clients' });
      return clients.find(({ client }) => client === 'qwen-code')?.applied?.hasOldKey;
    };
    const applyMade = async () => {
      const wanted = { client: 'qwen-code', key: 'made', model };
      const { fingerprint } = await engine.query({ type: 'connect-preview', ...wanted });
      await engine.execute({ type: 'connect.apply', ...wanted, fingerprint });
    };
    await make();
    await applyMade();
    expect(await isOld()).toBe(false);
    await engine.execute({ type: 'key.rotate', id: 'made' });
    expect(await isOld()).toBe(true);
    await applyMade();
    expect(await isOld()).toBe(false);
    await engine.execute({ type: 'key.create', id: 'another', name: 'another', group: 'default' });
    await engine.execute({ type: 'key.revoke', id: 'made' });
    expect(await isOld()).toBe(true);
    await stop();
    rmSync(folder, { recursive: true });
  });

  it('are not asked for by a client that finds them in a file, whose mode stays', async () => {
    writeAll();
    await apply('codex');
    expect(statSync(join(home, '.codex/config.toml')).mode & 0o777).toBe(0o644);
  });

  it('are answered by apiKeyHelper within a second with Sluice stopped, and no longer once the key is revoked', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-data-'));
    const { gateway: engine, stop } = await start({}, folder);
    const made = await engine.execute({ type: 'key.create', id: 'made', name: 'made', group: 'default' });
    const wanted = { client: 'claude-code', key: 'made', model };
    const { fingerprint } = await engine.query({ type: 'connect-preview', ...wanted });
    await engine.execute({ type: 'connect.apply', ...wanted, fingerprint });
    const { apiKeyHelper } = JSON.parse(read('.claude/settings.json'));
    const answer = () => spawnSync('/bin/sh', ['-c', apiKeyHelper], { cwd: '/', timeout: 1_000, encoding: 'utf8' });
    expect(answer().stdout).toBe(made.secret);
    const { secret: renewed } = await engine.execute({ type: 'key.rotate', id: 'made' });
    expect([answer().stdout, renewed === made.secret]).toEqual([renewed, false]);
    await stop();
    expect(answer().stdout).toBe(renewed);
    const again = await start({}, folder);
    await again.gateway.execute({ type: 'key.create', id: 'made', name: 'made', group: 'default' });
    await again.gateway.execute({ type: 'key.revoke', id: 'made' });
    expect(answer()).toMatchObject({ stdout: '', status: 1 });
    await again.stop();
    rmSync(folder, { recursive: true });
  });

  it.each([
    [{ ANTHROPIC_AUTH_TOKEN: 'mine' }, ['ANTHROPIC_AUTH_TOKEN']],
    [{ ANTHROPIC_API_KEY: 'mine' }, ['ANTHROPIC_API_KEY']],
    [{ ANTHROPIC_AUTH_TOKEN: secret }, []],
  ])('that Claude Code would prefer in its environment are named, unless they are the same: %o', async (env, named) => {
    const elsewhere = await start(env);
    const query = { type: 'connect-preview', client: 'claude-code', key, model } as const;
    const { stronger } = await elsewhere.gateway.query(query);
    await elsewhere.stop();
    expect(stronger).toEqual(named.map((setting) => ({ place: null, setting })));
  });

  it('are left to the variable where the key was not kept', async () => {
    const query = { type: 'connect-preview', client: 'claude-code', key: 'once', model } as const;
    const { keyVariable, keyFile, files } = await gateway.gateway.query(query);
    expect([keyVariable, keyFile]).toEqual(['ANTHROPIC_AUTH_TOKEN', null]);
    expect(files[0]?.diff).not.toContain('apiKeyHelper');
  });

  it('are hidden in the diff, those of the lines around too', async () => {
    writeAll();
    const { files } = await preview('continue');
    expect(files[0]?.diff).toContain('+  apiBase: ');
    expect(files[0]?.diff).not.toContain(secret);
    expect(files[0]?.diff).not.toContain('5up3r');
  });

  it('do not hide the names of variables', async () => {
    const query = { type: 'connect-preview', client: 'codex', key: 'once', model } as const;
    expect((await gateway.gateway.query(query)).files[0]?.diff).toContain('+env_key = "SLUICE_KEY"');
  });

  it('are given with the command where the key was not kept', async () => {
    const { gateway: engine } = gateway;
    const asked = { client: 'continue', key: 'once', model };
    await expect(engine.query({ type: 'connect-preview', ...asked })).rejects.toThrow('not kept');
    const given = { ...asked, secret: onceSecret };
    const { fingerprint } = await engine.query({ type: 'connect-preview', ...given });
    await engine.execute({ type: 'connect.apply', ...given, fingerprint });
    expect(read('.continue/config.yaml')).toContain(onceSecret);
  });
});

describe('refuses', () => {
  it('a file that has changed since the preview', async () => {
    writeAll();
    const { fingerprint } = await preview('codex');
    write('.codex/config.toml', 'model = "mine"\n');
    const command = { type: 'connect.apply', client: 'codex', key, model, fingerprint } as const;
    await expect(gateway.gateway.execute(command)).rejects.toThrow('has changed since this preview');
    expect(read('.codex/config.toml')).toBe('model = "mine"\n');
  });

  it('another model than the one that was shown', async () => {
    const { fingerprint } = await preview('codex');
    const command = { type: 'connect.apply', client: 'codex', key, model: 'else', fingerprint } as const;
    await expect(gateway.gateway.execute(command)).rejects.toThrow('review the change again');
    expect(existsSync(join(home, '.codex'))).toBe(false);
  });

  it('a broken file, and says the line', async () => {
    write('.codex/config.toml', 'model = "a"\nmodel_provider = = "b"\n');
    await expect(preview('codex')).rejects.toThrow('~/.codex/config.toml has a syntax error in line 2');
  });

  it.each([
    ['.claude/settings.json', 'claude-code', '{\n  // mine\n  "model": "opus"\n}\n', 'the comment in line 2'],
    [
      '.claude/settings.json',
      'claude-code',
      '{\n  "model": "opus",\n}\n',
      'the comma after the last element in line 3',
    ],
    ['.claude/settings.json', 'claude-code', '\uFEFF{}\n', 'the byte order mark in line 1'],
    ['.gemini/settings.json', 'gemini-cli', '{ "ui": {}, }\n', 'the comma after the last element in line 1'],
    ['.qwen/settings.json', 'qwen-code', '{ "ui": {}, }\n', 'the comma after the last element in line 1'],
  ])('a file that its client ignores: %s of %s', async (path, client, text, reason) => {
    write(path, text);
    await expect(preview(client)).rejects.toThrow(`ignores all of ~/${path} because of ${reason}`);
    expect(read(path)).toBe(text);
  });

  it('a file whose setting is of another kind', async () => {
    write('.claude/settings.json', '{ "env": "none" }');
    await expect(preview('claude-code')).rejects.toThrow('cannot edit safely');
  });

  it('a link that leads out of the home folder, of the file or of its folder', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'sluice-outside-'));
    writeFileSync(join(outside, 'config.toml'), '');
    symlinkSync(outside, join(home, '.codex'));
    await expect(preview('codex')).rejects.toThrow('outside your home folder');
    mkdirSync(join(home, '.claude'));
    symlinkSync(join(outside, 'config.toml'), join(home, '.claude/settings.json'));
    await expect(preview('claude-code')).rejects.toThrow('outside your home folder');
    rmSync(outside, { recursive: true });
  });

  it('a program whose own folder is not where its documentation puts it', async () => {
    await expect(preview('librechat')).rejects.toThrow(
      'There is no folder ~/LibreChat, where Sluice looks for librechat',
    );
    expect(existsSync(join(home, 'LibreChat'))).toBe(false);
  });

  it('what is no text, no file, or not open to this user', async () => {
    write('.codex/config.toml', '');
    writeFileSync(join(home, '.codex/config.toml'), Buffer.from([0xff, 0xfe, 0x00]));
    await expect(preview('codex')).rejects.toThrow('it is not UTF-8 text');
    mkdirSync(join(home, '.claude/settings.json'), { recursive: true });
    await expect(preview('claude-code')).rejects.toThrow('it is a folder');
    write('.gemini', 'a file where a folder should be');
    await expect(preview('gemini-cli')).rejects.toThrow('is not a folder');
  });

  it('a client, a key or an undo that is not there', async () => {
    await expect(preview('notepad')).rejects.toThrow('does not change the settings of "notepad"');
    const query = { type: 'connect-preview', client: 'codex', key: 'nobody', model } as const;
    await expect(gateway.gateway.query(query)).rejects.toThrow('There is no key "nobody"');
    await expect(gateway.gateway.query({ type: 'connect-undo-preview', client: 'codex' })).rejects.toThrow('nothing');
  });
});

it('writes through a link inside the home folder, and keeps the link', async () => {
  write('dotfiles/config.toml', '# mine\n');
  chmodSync(join(home, 'dotfiles/config.toml'), 0o640);
  mkdirSync(join(home, '.codex'));
  symlinkSync(join(home, 'dotfiles/config.toml'), join(home, '.codex/config.toml'));
  await apply('codex');
  expect(read('dotfiles/config.toml')).toContain('model_provider = "sluice"');
  expect(statSync(join(home, 'dotfiles/config.toml')).mode & 0o777).toBe(0o640);
  await undo('codex');
  expect(read('dotfiles/config.toml')).toBe('# mine\n');
});

it('takes back what it wrote through a link to a file of another name', async () => {
  write('dotfiles/codex.conf', '# mine\n');
  mkdirSync(join(home, '.codex'));
  symlinkSync(join(home, 'dotfiles/codex.conf'), join(home, '.codex/config.toml'));
  await apply('codex');
  await undo('codex');
  expect(read('dotfiles/codex.conf')).toBe('# mine\n');
});

it('follows the variable that moves a client’s folder', async () => {
  const elsewhere = await start({ CODEX_HOME: join(home, 'else') });
  const query = { type: 'connect-preview', client: 'codex', key, model } as const;
  const { files } = await elsewhere.gateway.query(query);
  await elsewhere.stop();
  expect(files[0]?.path).toBe('~/else/config.toml');
});

it.each([
  ['codex', '.codex/config.toml', 'supports_websockets = false'],
  ['claude-code', '.claude/settings.json', '"ENABLE_TOOL_SEARCH": "true"'],
  ['continue', '.continue/config.yaml', /capabilities:\s+- tool_use\s+- image_input/],
])('%s is told what it would not know of an address or a model of Sluice’s', async (client, path, told) => {
  await apply(client);
  expect(read(path)).toMatch(told);
});
