import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openTerminal } from '../../../server/connect/open-terminal.ts';
import { toolEnvironment, withTool } from '../../../server/connect/tool-environment.ts';

const secret = ['sk', 'sluice', 'of', 'a', 'test'].join('-');
let folder: string;
let bin: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-terminal-'));
  bin = join(folder, 'bin');
  mkdirSync(bin);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that notes its arguments, folder and environment, and ends as it is told. */
function install(name: string, code = 0): void {
  const path = join(bin, name);
  writeFileSync(path, `#!/bin/sh\n{ echo "${name}" "$@"; pwd; /usr/bin/env; } > "${folder}/noted"\nexit ${code}\n`);
  chmodSync(path, 0o755);
}

/** Opens one with a key in its environment, and resolves with what the fake terminal noted. */
async function open(platform: NodeJS.Platform): Promise<string[]> {
  const present = { PATH: bin, HOME: folder };
  const access = { origin: 'http://127.0.0.1:4810', key: secret, model: 'groq/gpt' };
  await openTerminal({ platform, folder, env: withTool(present, toolEnvironment(access, present)) });
  return readFileSync(join(folder, 'noted'), 'utf8').trim().split('\n');
}

describe('a terminal', () => {
  test.each<{ platform: NodeJS.Platform; programs: string[]; link?: string; line: string }>([
    { platform: 'linux', programs: ['x-terminal-emulator', 'konsole'], line: 'x-terminal-emulator' },
    { platform: 'linux', programs: ['xterm', 'konsole'], line: 'konsole --separate' },
    { platform: 'linux', programs: ['kitty', 'xfce4-terminal'], link: 'kitty', line: 'kitty' },
    // Debian's name for the chosen terminal leads to a wrapper of it.
    {
      platform: 'linux',
      programs: ['gnome-terminal', 'xfce4-terminal', 'xfce4-terminal.wrapper'],
      link: 'xfce4-terminal.wrapper',
      line: 'xfce4-terminal --disable-server',
    },
    { platform: 'freebsd', programs: ['foot'], line: 'foot' },
    { platform: 'win32', programs: ['cmd.exe'], line: 'cmd.exe /d /c start  powershell.exe -NoLogo' },
  ])('of $platform is opened: $line', async ({ platform, programs, link, line }) => {
    for (const program of programs) install(program);
    if (link) symlinkSync(join(bin, link), join(bin, 'x-terminal-emulator'));
    const [command, cwd, ...env] = await open(platform);
    expect(command).toBe(line);
    expect(cwd).toBe(folder);
    // Zed, Crush, Claude Code and Gemini CLI, each by its own name.
    for (const name of ['SLUICE_API_KEY', 'SLUICE_KEY', 'ANTHROPIC_AUTH_TOKEN', 'GEMINI_API_KEY']) {
      expect(env).toContain(`${name}=${secret}`);
    }
    expect(env).toContain('OPENAI_BASE_URL=http://127.0.0.1:4810/v1');
    expect(env).toContain('OPENAI_MODEL=groq/gpt');
  });

  test('that is not there, or ends at once, is told', async () => {
    await expect(open('linux')).rejects.toMatchObject({ problem: { code: 'no-terminal' } });
    install('xterm', 3);
    await expect(open('linux')).rejects.toThrow('No terminal could be opened. xterm ended with 3.');
  });
});
