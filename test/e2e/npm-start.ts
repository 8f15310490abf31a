/** `npm start` as a newcomer types it, in its own checkout and HOME, and its output. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { collectOutput, type RunningProgram, shownToPerson } from '../support/program.ts';

/** Parts of the terminal's output once the program is ready; an empty string if a line is absent. */
export interface Shown {
  baseUrl: string;
  key: string;
  window: string;
  curl: string;
}

/** The environment of a user with this HOME, which contains the data, without a keychain or a proxy. */
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

/** In its own process group, as in a terminal, so that a signal reaches npm and the program as with Ctrl-C. */
export function startByNpm(cwd: string, env: Record<string, string>): RunningProgram {
  const child = spawn('npm', ['start', '--', '--port', '0'], { cwd, env, detached: true });
  const ended = once(child, 'close').then(([code]): number | null => code);
  return { child, output: collectOutput(child), ended };
}

/** Sends the signal to npm and the program. Does nothing if they have ended. */
export function interrupt({ child }: RunningProgram, signal: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid ?? 0), signal);
  } catch {
    // The process group has ended.
  }
}

/** Rejects with the output if the program ends before it is ready. */
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
