/** Waits for child processes of tests to serve and to end. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** Resolves once a line of `output` contains `words`. Rejects with all lines if the output ends before. */
export async function untilServing(name: string, output: Readable, words: string): Promise<void> {
  const said: string[] = [];
  for await (const line of createInterface(output)) {
    said.push(line);
    if (line.includes(words)) {
      output.resume();
      return;
    }
  }
  throw new Error(`${name} did not start: ${said.join('\n')}`);
}

/** Resolves once the process has ended, at once if it already has. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}
