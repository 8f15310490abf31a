/**
 * Starts Sluice from a checkout. Builds it if the build is missing or older than its sources, prints a line for each
 * thing that this machine lacks, and runs the built program: the desktop if there are a display and Electron, otherwise
 * the engine in this same process. `npm start` passes `start`; other arguments go to the command line unchanged
 * (`npm run -s sluice -- key list`).
 *
 * All messages of this file go to stderr, because stdout belongs to the program.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { takeBuildLock } from './build-lock.ts';

process.title = 'sluice';
const root = join(import.meta.dirname, '..');
/** Written when a build is complete, so that an interrupted one does not count. */
const stamp = join(root, 'dist/built');
const sources = ['server', 'electron', 'renderer', 'build', 'vite.config.ts', 'package.json', 'package-lock.json'];

const [verb, ...parameters] = process.argv.slice(2);
if (!isBuilt()) buildAlone();
if (verb === 'start') tell(whyHeadless());
const electron = verb === 'start' && whyHeadless() === undefined ? electronBinary() : undefined;
if (electron) startDesktop(electron);
else await startHere();

/** Runs in its own process. If one of the two processes ends, so does the other. */
function startDesktop(binary: string): void {
  const desktop = spawn(binary, [root], { stdio: 'inherit' });
  desktop.on('exit', (code) => process.exit(code ?? 1));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => desktop.kill(signal));
}

async function startHere(): Promise<void> {
  const serveParameters = parameters.filter((parameter) => parameter !== '--headless');
  if (verb === 'start') process.argv.splice(2, Infinity, 'serve', ...serveParameters);
  await import(pathToFileURL(join(root, 'dist/program/sluice.cjs')).href);
}

/** Compares the modification times of all source files, which takes a few milliseconds. */
function isBuilt(): boolean {
  if (!existsSync(stamp)) return false;
  const builtMs = statSync(stamp).mtimeMs;
  return !sources.some((source) => isNewer(join(root, source), builtMs));
}

function isNewer(path: string, thanMs: number): boolean {
  const stats = statSync(path);
  if (stats.mtimeMs > thanMs) return true;
  return stats.isDirectory() && readdirSync(path).some((name) => isNewer(join(path, name), thanMs));
}

/** Two starts at the same time build once: the later one waits for the build and then finds it complete. */
function buildAlone(): void {
  const release = takeBuildLock(join(root, 'dist'), () => tell('Waiting for another process that builds Sluice.'));
  if (!isBuilt()) build();
  release();
}

/** Runs in its own process, so that its memory is freed before Sluice runs. */
function build(): void {
  tell('Building Sluice; this takes a few seconds and is done again only when its sources change.');
  const startedMs = Date.now();
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  if (!existsSync(vite)) stop('The packages are not installed: run "npm ci" first.');
  const { status } = spawnSync(process.execPath, [vite, 'build', '--app', '--logLevel', 'error'], {
    cwd: root,
    // The shell's NODE_ENV is meant for other programs. With `development`, React would run its development checks.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', process.stderr.fd, process.stderr.fd],
  });
  if (status !== 0) stop('The build failed; what is wrong stands above.');
  writeFileSync(stamp, '');
  // The build does not include changes made while it was running.
  utimesSync(stamp, new Date(startedMs), new Date(startedMs));
  tell(`Built in ${((Date.now() - startedMs) / 1000).toFixed(1)} s.`);
}

/** Returns why the desktop cannot start here, and the consequence; undefined if it can. */
function whyHeadless(): string | undefined {
  const meaning = 'Sluice runs without the desktop; its window is in the browser';
  if (parameters.includes('--headless')) return `${meaning}, as --headless asks for.`;
  if (parameters.length > 0) return `${meaning}, since ${parameters[0]} is for the engine alone.`;
  const isDisplayMissing = process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY;
  if (isDisplayMissing) return `There is no display here: ${meaning}.`;
  if (!electronBinary()) return `There is no Electron runtime here ("npx install-electron" brings it): ${meaning}.`;
  return undefined;
}

/** Searches the folder itself, because asking the package for its path would download it. */
function electronBinary(): string | undefined {
  const folder = join(root, 'node_modules/electron');
  try {
    const path = join(folder, 'dist', readFileSync(join(folder, 'path.txt'), 'utf8'));
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

function stop(line: string): never {
  tell(line);
  process.exit(1);
}

function tell(line: string | undefined): void {
  if (line) process.stderr.write(`${line}\n`);
}
