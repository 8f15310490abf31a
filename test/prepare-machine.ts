/**
 * Checks for software that some tests need and npm does not install: a browser, a keychain and the headers to build
 * keytar, and servers for the suites that need them. As root on Debian it installs what is missing; elsewhere it prints
 * what is missing and which tests are skipped.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findChromium } from '../build/find-chromium.ts';
import { findPostgres } from './support/find-postgres.ts';
import { findValkey } from './support/find-valkey.ts';
import { hasNginxProgram } from './support/nginx.ts';

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
