import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkout } from '../../support/program.ts';

const run = promisify(execFile);

/**
 * Runs source text in a Node of its own, because V8's settings hold for a whole process. The text may use `await`, and
 * what `server/cli/MODULE` exports as `exported`. Returns what it prints.
 */
export async function runWithModule(module: string, source: string, nodeOptions: readonly string[]): Promise<string> {
  const path = JSON.stringify(join(checkout, 'server/cli', module));
  const whole = `(async () => { const exported = await import(${path}); ${source} })()`;
  const { stdout } = await run(process.execPath, [...nodeOptions, '-e', whole]);
  return stdout;
}
