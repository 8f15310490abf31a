/**
 * Opens a terminal window of the system. What its programs are to know is in its environment, and neither in its arguments nor
 * in a file, which others could read.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { GatewayError } from '../contract/errors.ts';
import { after } from '../ground/timers.ts';
import type { Variables } from './tool-environment.ts';

interface TerminalStart {
  platform: NodeJS.Platform;
  /** The terminal's whole environment. */
  env: Variables;
  /** Where its shell starts. */
  folder: string;
}

type CommandLine = readonly [program: string, ...parameters: string[]];

/**
 * Of Linux and other desktops of its kind, in the order in which they are tried. A terminal whose windows belong to one process
 * would otherwise hand the new one the environment of that process.
 */
const desktopTerminals: readonly CommandLine[] = [
  ['x-terminal-emulator'],
  ['gnome-terminal'],
  ['konsole', '--separate'],
  ['xfce4-terminal', '--disable-server'],
  ['ptyxis', '--standalone'],
  ['kitty'],
  ['alacritty'],
  ['foot'],
  ['xterm'],
];

/** Started as a program, and not by `open`, Terminal has the environment that it is given. */
const macTerminal = '/System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal';

/** `start` gives the shell a window of the terminal that Windows is set to. Its first quoted word would be the title. */
const windowsTerminal: CommandLine = ['cmd.exe', '/d', '/c', 'start', '', 'powershell.exe', '-NoLogo'];

/** Rejects with a GatewayError if there is none, or if it ends at once with a failure. */
export async function openTerminal({ platform, env, folder }: TerminalStart): Promise<void> {
  for (const [program, ...parameters] of await terminalsOf(platform, env)) {
    const child = spawn(program, parameters, { cwd: folder, env, detached: true, stdio: 'ignore' });
    const problem = await problemOf(child);
    child.unref();
    if (problem === null) return;
    if (problem !== 'missing') throw notOpened(`${basename(program)} ${problem}.`);
  }
  throw notOpened('None was found on this machine.');
}

async function terminalsOf(platform: NodeJS.Platform, env: Variables): Promise<readonly CommandLine[]> {
  if (platform === 'darwin') return [[macTerminal]];
  if (platform === 'win32') return [windowsTerminal];
  const [preferred, ...others] = desktopTerminals;
  const meant = await meantBy('x-terminal-emulator', env.PATH ?? '');
  // Debian's wrappers translate arguments that are not given here.
  const known = others.find(([program]) => program === meant?.replace(/\.wrapper$/, ''));
  return known ? [known, ...others] : preferred ? [preferred, ...others] : others;
}

/** The name of the program that a link on the path leads to; null if there is none. */
async function meantBy(link: string, path: string): Promise<string | null> {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const found = await realpath(join(folder, link)).catch(() => null);
    if (found !== null) return basename(found);
  }
  return null;
}

/** A terminal without a display, or with arguments that it does not know, ends within this time. */
const failsWithinMs = 1_000;

/** Resolves once the terminal runs, or has handed its window to another process and ended. */
function problemOf(child: ChildProcess): Promise<string | null> {
  return new Promise((resolve) => {
    const timer = after(() => resolve(null), failsWithinMs);
    const settle = (problem: string | null) => {
      clearTimeout(timer);
      resolve(problem);
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      settle(error.code === 'ENOENT' ? 'missing' : `cannot be started: ${error.message}`);
    });
    child.on('exit', (code) => settle(code === 0 ? null : `ended with ${code ?? 'a signal'}`));
  });
}

function notOpened(reason: string): GatewayError {
  return new GatewayError('invalid_value', `No terminal could be opened. ${reason}`, {
    problem: { code: 'no-terminal', reason },
  });
}
