/** `npm start` as a newcomer types it, in a checkout and a HOME of its own, and what it shows. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { collectOutput, type RunningProgram, shownToPerson } from '../support/program.ts';

/** What stands in the terminal once it is ready; an empty text where a line is absent. */
export interface Shown {
  baseUrl: string;
  key: string;
  window: string;
  curl: string;
}

/** The environment of someone whose HOME is this folder, with the data in it, no keychain and no proxy. */
export function newcomerEnv(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    SLUICE_DATA_DIR: join(home, 'data'),
    SLUICE_SECRETS: 'file',
    npm_config_update_notifier: 'false',
    no_proxy: '*',
  };
}

/** In a process group of its own, like a terminal's, so that a signal reaches npm and the program as Ctrl-C does. */
export function startByNpm(cwd: string, env: Record<string, string>): RunningProgram {
  const child = spawn('npm', ['start', '--', '--port', '0'], { cwd, env, detached: true });
  const ended = once(child, 'close').then(([code]): number | null => code);
  return { child, output: collectOutput(child), ended };
}

/** Sends it to npm and the program; nothing happens where they have ended. */
export function interrupt({ child }: RunningProgram, signal: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid ?? 0), signal);
  } catch {
    // It has ended.
  }
}

/** Rejects with what it said if it ends before. */
export async function whatIsShown(program: RunningProgram): Promise<Shown> {
  const text = await shownToPerson(program);
  const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? '';
  return {
    baseUrl: find(/^ {2}Base URL +(\S+)$/m),
    key: find(/^ {2}Key +(\S+)$/m),
    window: find(/^ {2}Window +(\S+)$/m),
    curl: find(/^ {2}(curl .*)$/m),
  };
}
