/** `serve --detach`: starts `serve` as a process that continues without the terminal. */
import { spawn } from 'node:child_process';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import type { Terminal } from './terminal.ts';

/**
 * Starts this program again with the same arguments except `--detach`, and passes on its output until it is ready;
 * later output is only in its log. Resolves once it listens. If it ends before that, rejects with a CliError with its
 * exit code.
 */
export async function serveDetached({ argv, env, stdout, stderr }: Terminal): Promise<void> {
  const [, script = ''] = process.argv;
  const child = spawn(process.execPath, [script, ...argv.filter((each) => each !== '--detach')], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...env },
    windowsHide: true,
  });
  child.stderr?.on('data', (chunk: Buffer) => void stderr.write(chunk));
  await new Promise<void>((resolve, reject) => {
    child.once('error', (error) => reject(new CliError(`Sluice cannot be started: ${error.message}.`)));
    child.once('close', (code) => reject(new CliError('Sluice has not started.', code ?? exitCodes.failure)));
    child.once('message', (readyText) => {
      stdout.write(String(readyText));
      resolve();
    });
  });
  child.disconnect();
  child.stderr?.destroy();
  child.unref();
}

/** Called by `serve` once it listens: sends the text to show to the process that started it. */
export function notifyStarter(readyText: string): void {
  process.send?.(readyText);
}
