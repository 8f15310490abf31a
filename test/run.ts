/**
 * `npm test`: checks what the tests need on this machine, and runs every check except the suites with their own
 * commands (`test/suites.ts`). A failed check does not stop the others. The output ends with the failures and one line
 * with the numbers of passed and failed tests.
 * `node test/run.ts SUITE …` runs these suites instead: gallery, replicas, long, sweeps, fuzz, soak, coverage.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findChromium } from '../build/find-chromium.ts';
import { outcomeVariable, type TestOutcome } from './outcome-reporter.ts';
import { apart, excluding, isSuite, measured, ownProcess, runOf, type Suite } from './suites.ts';
import { findPostgres, findValkey } from './support/find-servers.ts';
import { hasNginxProgram } from './support/nginx.ts';

// Checks for software that some tests need and npm does not install: a browser, a keychain and the headers to build
// keytar, and servers for the suites that need them. As root on Debian it installs what is missing; elsewhere it prints
// what is missing and which tests are skipped.

interface Need {
  /** The Debian package. */
  name: string;
  isThere(): boolean;
  /** The tests that are skipped without it. */
  skips: string;
}

const keychainTests = 'the tests against a real keychain';

const desktopNeeds: Need[] = [
  {
    name: 'chromium',
    isThere: () => findChromium() !== null,
    skips: 'the tests in a real browser',
  },
  { name: 'dbus', isThere: () => isOnPath('dbus-run-session'), skips: keychainTests },
  { name: 'gnome-keyring', isThere: () => isOnPath('gnome-keyring-daemon'), skips: keychainTests },
  {
    name: 'libsecret-1-dev',
    isThere: () => existsSync('/usr/include/libsecret-1/libsecret/secret.h'),
    skips: keychainTests,
  },
];

const serverNeeds: Need[] = [
  {
    name: 'postgresql',
    isThere: () => findPostgres() !== null,
    skips: 'the tests against a real PostgreSQL',
  },
  {
    name: 'redis-server',
    isThere: () => findValkey() !== null,
    skips: 'the tests against a real Valkey (or Redis)',
  },
  {
    name: 'nginx',
    isThere: hasNginxProgram,
    skips: 'the tests of replicas behind nginx',
  },
];

/** Returns false if something is missing and CI=true. */
export function prepareMachine(root: string, { needsServers = false } = {}): boolean {
  if (process.platform !== 'linux') {
    console.log('Not on Linux: the tests against gnome-keyring are skipped.');
    return process.env.CI !== 'true';
  }
  const needs = needsServers ? [...desktopNeeds, ...serverNeeds] : desktopNeeds;
  const missing = needs.filter((need) => !need.isThere());
  if (missing.length > 0 && canInstall()) install(missing.map((need) => need.name));
  const isKeytarThere = loadsKeytar(root) || buildKeytar(root);
  const stillMissing = missing.filter((need) => !need.isThere());
  for (const { name, skips } of stillMissing) console.log(`${name} is missing: ${skips} are skipped.`);
  if (!isKeytarThere) console.log(`keytar could not be built: ${keychainTests} are skipped.`);
  const isComplete = stillMissing.length === 0 && isKeytarThere;
  if (isComplete) console.log('Everything that the tests need is there.');
  return isComplete || process.env.CI !== 'true';
}

function canInstall(): boolean {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version') && isOnPath('apt-get');
}

function install(packages: string[]): void {
  console.log(`Installing ${packages.join(', ')} by apt.`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...parameters: string[]) =>
    spawnSync('apt-get', ['-qq', ...parameters], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  apt('update');
  apt('install', '-y', '--no-install-recommends', ...packages);
}

/** Runs in its own process, because a module that failed to load once keeps failing in the same process. */
function loadsKeytar(root: string): boolean {
  return spawnSync(process.execPath, ['-e', 'require("keytar")'], { cwd: root, stdio: 'ignore' }).status === 0;
}

/**
 * keytar's build may have failed in `npm ci`, before its headers were installed. npm then removes the optional package.
 */
function buildKeytar(root: string): boolean {
  const isThere = existsSync(join(root, 'node_modules/keytar'));
  const parameters = isThere ? ['rebuild', 'keytar'] : ['install', '--no-save', '--no-audit', '--no-fund'];
  console.log(`Building keytar: npm ${parameters.join(' ')}`);
  spawnSync('npm', parameters, { cwd: root, stdio: 'inherit' });
  return loadsKeytar(root);
}

function isOnPath(program: string): boolean {
  return spawnSync('which', [program], { stdio: 'ignore' }).status === 0;
}

interface Outcome extends TestOutcome {
  name: string;
  seconds: number;
}

const root = join(import.meta.dirname, '..');
const isWindows = process.platform === 'win32';

/**
 * The number of workers for files that share workers, in addition to one worker per processor for the other files: most
 * tests spend half of their time waiting for sockets, timers and pages.
 */
const sharedWorkers = availableParallelism() + 3;
/** The suites' files wait for programs, servers and pages, though not as much: with one worker per processor, one idles. */
const suiteWorkers = availableParallelism() + 1;

const { positionals } = parseArgs({ allowPositionals: true });
const unknown = positionals.filter((name) => !isSuite(name));
if (unknown.length > 0) throw new Error(`There is no suite ${unknown.join(', ')}.`);
const named = positionals.filter(isSuite);
summarize(named.length > 0 ? await runSuites(named) : await runAll());

async function runAll(): Promise<Outcome[]> {
  const alone = ['test/architecture.test.ts', ...measured(root)];
  const own = ownProcess(root);
  const others = apart(root);
  const before = [
    await runStep('machine', () => prepareMachine(root)),
    await build(),
    await runTests('architecture and work', alone),
  ];
  const together = await Promise.all([
    runTests('tests that share their workers', [
      ...['--no-isolate', `--maxWorkers=${sharedWorkers}`],
      ...excluding([...alone, ...own, ...others]),
    ]),
    runTests('tests in processes of their own', [...own, ...excluding([...alone, ...others])]),
    runStep('type check', checkTypes),
    runStep('lint', () => runTool('biome', ['check', '--error-on-warnings', '.'])),
  ]);
  return [...before, ...together];
}

async function runSuites(names: readonly Suite[]): Promise<Outcome[]> {
  const { parameters, env, needsServers } = runOf(names, root);
  Object.assign(process.env, env);
  return [
    await runStep('machine', () => prepareMachine(root, { needsServers })),
    await build(),
    await runTests(names.join(', '), [`--maxWorkers=${suiteWorkers}`, ...parameters]),
  ];
}

/** Builds as the first start does, so that the tests run an up-to-date program. */
function build(): Promise<Outcome> {
  return runStep('build', () => runProgram(process.execPath, ['build/launch.ts', '--version']));
}

/**
 * TypeScript runs with a single thread, because several threads would each check the shared files. The projects are
 * checked one after another.
 */
async function checkTypes(): Promise<boolean> {
  const results: boolean[] = [];
  for (const project of ['test', 'electron', 'renderer'])
    results.push(await runTool('tsc', ['-p', project, '--singleThreaded']));
  return !results.includes(false);
}

async function runStep(name: string, step: () => boolean | Promise<boolean>): Promise<Outcome> {
  console.log(`\n── ${name}`);
  const startedMs = Date.now();
  const isGood = await step();
  const seconds = (Date.now() - startedMs) / 1000;
  return { name, seconds, passed: isGood ? 1 : 0, failed: isGood ? 0 : 1, failures: [], retried: [] };
}

async function runTests(name: string, parameters: string[]): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-run-'));
  const file = join(folder, 'outcome.json');
  try {
    const reporters = ['--reporter=default', '--reporter=./test/outcome-reporter.ts'];
    const run = () => runTool('vitest', ['run', ...reporters, ...parameters], { [outcomeVariable]: file });
    const step = await runStep(name, run);
    const outcome = readOutcome(file);
    // An error of the run that is not a failed test also counts as a failure.
    return { ...step, ...outcome, failed: Math.max(outcome.failed, step.failed) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readOutcome(file: string): TestOutcome {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    return { passed: 0, failed: 1, failures: [`The tests did not run to their end: ${error}`], retried: [] };
  }
}

function runTool(tool: string, parameters: readonly string[], env: Record<string, string> = {}): Promise<boolean> {
  return runProgram(join(root, 'node_modules/.bin', isWindows ? `${tool}.cmd` : tool), parameters, env);
}

async function runProgram(
  program: string,
  parameters: readonly string[],
  env: Record<string, string> = {},
): Promise<boolean> {
  const child = spawn(program, parameters, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
    shell: program.endsWith('.cmd'),
  });
  const [code] = await once(child, 'close');
  return code === 0;
}

function summarize(results: readonly Outcome[]): void {
  console.log('\n── summary');
  for (const { name, passed, failed, seconds, failures, retried } of results) {
    console.log(
      `${failed > 0 ? 'FAILED' : 'ok    '}  ${name} (${passed} passed, ${failed} failed, ${seconds.toFixed(1)} s)`,
    );
    for (const failure of failures) console.log(`  failed: ${failure}`);
    for (const test of retried) console.log(`  passed at its second try: ${test}`);
  }
  const sum = (field: 'passed' | 'failed') => results.reduce((total, each) => total + each[field], 0);
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`);
  process.exitCode = sum('failed') > 0 ? 1 : 0;
}
