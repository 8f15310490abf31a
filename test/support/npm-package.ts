/** The package that `npm pack` makes of this checkout, and programs that run it from where npm has installed it. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { checkout, collectOutput, ensureBuilt, type RunningProgram, readyOf } from './program.ts';
import { endProcess } from './started-process.ts';

export interface Packed {
  /** The path of the archive. */
  archive: string;
  bytes: number;
  /** Paths in the package, with `/`. */
  files: string[];
}

/** Without an install script and without what is optional, all is in the archive itself. */
export const offlineInstall = ['--omit=dev', '--omit=optional', '--ignore-scripts', '--offline'];

/** What a process is run with that knows nothing of this machine but one Node, and a home in `folder`. */
export function bareEnvironment(node: string, folder: string): Record<string, string> {
  return { PATH: dirname(node), HOME: folder };
}

/** As `npm pack` does it, in a copy, so that the checkout keeps its package.json while other tests read it. */
export async function packPackage(folder: string, env: Record<string, string> = {}): Promise<Packed> {
  await ensureBuilt();
  const copy = join(folder, 'copy');
  for (const part of [
    'package.json',
    'README.md',
    'LICENSE',
    'build/packed-manifest.ts',
    'build/release/package-name.ts',
    ...manifest.files,
  ])
    cpSync(join(checkout, part), join(copy, part), { recursive: true });
  const run = (...parameters: string[]) =>
    promisify(execFile)(process.execPath, parameters, { cwd: copy, env: { ...process.env, ...env } });
  // The build is done; `prepack` would do it again.
  await run('build/packed-manifest.ts', 'trim');
  const { stdout } = await run(npmProgram(), 'pack', '--json', '--ignore-scripts', '--pack-destination', folder);
  await run('build/packed-manifest.ts', 'restore');
  const [{ filename, size, files }] = JSON.parse(stdout);
  return { archive: join(folder, filename), bytes: size, files: files.map(({ path }: { path: string }) => path) };
}

/** Runs npm on `node`, with nothing else on the PATH, in the folder `cwd`. */
export async function runNpm(node: string, cwd: string, parameters: readonly string[]): Promise<void> {
  mkdirSync(cwd, { recursive: true });
  const env = { ...bareEnvironment(node, cwd), npm_config_cache: join(cwd, '.cache'), npm_config_audit: 'false' };
  await promisify(execFile)(node, [npmProgram(), ...parameters], { cwd, env });
}

/** Starts the command and asks the demo once. Resolves with the answer's text. */
export async function firstAnswer(command: readonly string[], env: Record<string, string>): Promise<string> {
  const [file = '', ...parameters] = command;
  const child = spawn(file, [...parameters, 'serve', '--port', '0', '--json'], { env, stdio: 'pipe' });
  const ended = once(child, 'close').then(([code]): number | null => code);
  const program: RunningProgram = { child, output: collectOutput(child), ended };
  try {
    const { baseUrl, key } = await readyOf(program);
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    const { choices } = JSON.parse(await response.text());
    return choices[0].message.content;
  } finally {
    await endProcess(child, 'SIGKILL');
  }
}

/** The script of the npm that is on the PATH, or that runs the tests. */
export function npmProgram(): string {
  const { npm_execpath: running, PATH = '' } = process.env;
  if (running?.endsWith('npm-cli.js')) return running;
  for (const folder of PATH.split(delimiter)) {
    // On Windows `npm` is a script that starts this file, which lies beside it.
    const beside = join(folder, 'node_modules/npm/bin/npm-cli.js');
    if (existsSync(beside)) return beside;
    if (existsSync(join(folder, 'npm'))) return realpathSync(join(folder, 'npm'));
  }
  throw new Error('There is no npm on the PATH.');
}
