import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { clientSettings } from '../connect/client-settings.ts';
import { endProgramsAfterEach, runJson, runVerb, serve, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();
let folder: string;
let home: string;
beforeEach(() => {
  folder = temporaryFolder();
  home = temporaryFolder();
});
const config = () => join(home, '.codex/config.toml');
const parametersOf = (line: string) => [...line.split(' '), '--data-dir', folder];
const run = (line: string) => runVerb(parametersOf(line), { env: { HOME: home } });
const ask = (line: string) => runJson(parametersOf(line), { env: { HOME: home } });
const write = (path: string, text: string) => {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
};

describe('connect', () => {
  test('lists the clients, and which are set up', async () => {
    await run('key create tool');
    await run('connect codex --write --model demo-chat --yes');
    const clients = await ask('connect');
    expect(clients).toContainEqual(expect.objectContaining({ client: 'codex', files: ['~/.codex/config.toml'] }));
    expect(clients).toContainEqual(expect.objectContaining({ client: 'n8n', files: [], applied: null }));
    expect((await run('connect')).stdout).toMatch(/codex +Codex CLI +~\/\.codex\/config\.toml +set up for demo-chat/);
  });

  test('prints the same steps as the window, filled in but for the key', async () => {
    await run('key create tool');
    const { stdout, stderr, code } = await run('connect codex --model demo-chat');
    expect(code).toBe(0);
    expect(stdout).toContain('1. Put this into ~/.codex/config.toml:\n\n    model = "demo-chat"');
    expect(stdout).toContain('base_url = "http://127.0.0.1:4810/v1"');
    expect(stdout).toContain('It calls /v1/responses.');
    expect(stdout).not.toContain('sk-sluice-');
    expect(stderr).toContain('sluice key reveal tool');
    expect(existsSync(config())).toBe(false);
  });

  test('shows the change and writes nothing without consent', async () => {
    await run('key create tool');
    const { stderr, code } = await run('connect codex --write --model demo-chat');
    expect(code).toBe(2);
    expect(stderr).toContain('+model_provider = "sluice"');
    expect(stderr).toContain('use --yes');
    expect(existsSync(config())).toBe(false);
  });

  test('writes with consent, calls the model once, and undoes it to the byte', async () => {
    const before = clientSettings['.codex/config.toml'] ?? '';
    write(config(), before);
    await run('key create tool');
    const { ready } = await serve(folder, [], { env: { HOME: home } });
    const done = await run('connect codex --write --model demo-chat --yes');
    expect(done).toMatchObject({ code: 0, stdout: 'Codex CLI is set up for demo-chat.\n' });
    expect(done.stderr).toMatch(/Codex CLI reads the key from .*sluice-key, which only you can read/);
    expect(done.stderr).not.toContain('export ');
    expect(done.stderr).toMatch(/Test call: demo-chat answered in \d+ ms\./);
    expect(readFileSync(config(), 'utf8')).toContain(`base_url = "${ready.baseUrl}"`);
    expect(await run('connect codex --undo --yes')).toMatchObject({ code: 0 });
    expect(readFileSync(config(), 'utf8')).toBe(before);
  });

  test('does not write into the home of a Sluice that runs as somebody else', async () => {
    await run('key create tool');
    const otherHome = temporaryFolder();
    await serve(folder, [], { env: { HOME: otherHome } });
    for (const line of ['connect codex --write --model demo-chat --yes', 'connect codex --write --model demo-chat']) {
      const { code, stderr } = await run(line);
      expect([code, stderr]).toEqual([1, expect.stringContaining('another home folder than you')]);
      expect(stderr).toContain('"sluice connect codex" prints the steps');
    }
    expect([existsSync(config()), existsSync(join(otherHome, '.codex'))]).toEqual([false, false]);
    const asOther = { env: { HOME: otherHome } };
    const there = await runVerb(parametersOf('connect codex --write --model demo-chat --yes'), asOther);
    expect(there.code).toBe(0);
    expect(await run('connect codex --undo --yes')).toMatchObject({ code: 1 });
    expect((await runVerb(parametersOf('connect codex --undo --yes'), asOther)).code).toBe(0);
    expect(existsSync(join(otherHome, '.codex'))).toBe(false);
  });

  test('names the settings that its client prefers, takes them out, and puts them back', async () => {
    const path = join(home, '.claude/settings.json');
    const before = '{\n  "env": { "CLAUDE_CODE_USE_BEDROCK": "1", "A": "b" }\n}\n';
    write(path, before);
    await run('key create tool');
    const done = await run('connect claude-code --write --model demo-chat --yes');
    expect(done).toMatchObject({ code: 0, stdout: 'Claude Code is set up for demo-chat.\n' });
    expect(done.stderr).toContain(
      'Claude Code would prefer env.CLAUDE_CODE_USE_BEDROCK in ~/.claude/settings.json, so the change takes that out.',
    );
    expect(JSON.parse(readFileSync(path, 'utf8')).env).toMatchObject({ A: 'b', ANTHROPIC_MODEL: 'demo-chat' });
    expect(readFileSync(path, 'utf8')).not.toContain('BEDROCK');
    await run('connect claude-code --undo --yes');
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  test('does not say "set up" where the terminal it runs in leads the client elsewhere', async () => {
    await run('key create tool');
    const env = { HOME: home, CLAUDE_CODE_USE_VERTEX: '1', CLAUDE_CONFIG_DIR: join(home, 'moved') };
    await serve(folder, [], { env: { HOME: home } });
    const line = parametersOf('connect claude-code --write --model demo-chat --yes');
    const { stdout } = await runVerb(line, { env });
    expect(stdout).toBe(
      'The settings are written, but Claude Code does not use Sluice yet: it prefers CLAUDE_CONFIG_DIR of the environment, ' +
        'CLAUDE_CODE_USE_VERTEX of the environment. Remove what is named, or ask whoever manages it to do so.\n',
    );
    write(join(home, '.claude/settings.json'), '{ "env": { "CLAUDE_CODE_USE_FOUNDRY": "1" } }');
    expect((await run('connect')).stdout).toContain('but env.CLAUDE_CODE_USE_FOUNDRY in ~/.claude/settings.json');
  });

  test('warns of what it cannot write', async () => {
    mkdirSync(join(home, 'LibreChat'));
    await run('key create tool');
    const { code, stderr } = await run('connect librechat --write --model demo-chat --yes');
    expect(code).toBe(0);
    expect(stderr).toContain('If it runs in a container, use host.docker.internal in place of 127.0.0.1');
  });

  test('says what fails in the test call', async () => {
    await run('key create tool');
    await serve(folder, [], { env: { HOME: home } });
    const { stderr } = await run('connect codex --write --model nobody/nothing --yes');
    expect(stderr).toMatch(/Test call: nobody\/nothing failed with 404: /);
  });

  test.each([
    ['connect notepad', 2, 'There is no client "notepad"'],
    ['connect codex --write --key nobody --yes', 1, 'There is no key "nobody"'],
    ['connect codex --write --undo', 2, 'cannot be used with'],
    ['connect codex --undo --yes', 1, 'nothing in the settings of Codex CLI'],
    ['connect n8n --write --model demo-chat --yes', 1, 'does not change the settings of "n8n"'],
    ['connect librechat --write --model demo-chat --yes', 1, 'There is no folder ~/LibreChat'],
    ['connect codex --write --yes', 2, 'Name the model with --model, such as'],
  ])('refuses %s', async (line, code, reason) => {
    await run('key create tool');
    const outcome = await run(line);
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).toContain(reason);
  });

  test('names the line of a broken file, and leaves it', async () => {
    write(config(), 'model = "a"\nmodel = = "b"\n');
    await run('key create tool');
    const { stderr, code } = await run('connect codex --write --model demo-chat --yes');
    expect(code).toBe(1);
    expect(stderr).toContain('~/.codex/config.toml has a syntax error in line 2');
    expect(readFileSync(config(), 'utf8')).toBe('model = "a"\nmodel = = "b"\n');
  });
});
