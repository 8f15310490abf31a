import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeychainLibraryName } from '../../server/secrets/keychain-libraries.ts';
import { plainEnvironment } from './plain-environment.ts';

const password = 'pw';

export interface KeychainSession {
  /** Environment in which programs reach the keychain. */
  env: Record<string, string>;
  lock(): void;
  unlock(): void;
  stop(): Promise<void>;
}

/** What this machine lacks for a real keychain. */
export function missingForKeychain(libraries: readonly KeychainLibraryName[] = ['keytar']): string[] {
  if (process.platform !== 'linux') return ['Linux'];
  const programs = ['dbus-run-session', 'gnome-keyring-daemon', 'dbus-send'];
  const missing = programs.filter((program) => spawnSync('which', [program]).status !== 0);
  for (const library of libraries) {
    try {
      createRequire(import.meta.url)(library);
    } catch {
      missing.push(library);
    }
  }
  return missing;
}

/** A gnome-keyring, unlocked, in a D-Bus session of its own. */
export async function startKeychainSession(): Promise<KeychainSession> {
  const home = mkdtempSync(join(tmpdir(), 'sluice-keychain-'));
  const folders = { HOME: home, XDG_DATA_HOME: home, XDG_CACHE_HOME: home, XDG_RUNTIME_DIR: home };
  const unlock = `printf ${password} | gnome-keyring-daemon --replace --unlock --components=secrets >/dev/null 2>&1`;
  const script = `${unlock} && echo "$DBUS_SESSION_BUS_ADDRESS" && cat`;
  const env = { ...folders, PATH: process.env.PATH ?? '' };
  // The session ends when its stdin is closed, together with the bus and the keychain.
  const session = spawn('dbus-run-session', ['--', 'sh', '-c', script], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(session, 'close');
  const [address] = await once(session.stdout, 'data');
  const withBus = { ...plainEnvironment, ...env, DBUS_SESSION_BUS_ADDRESS: String(address).trim() };
  const keyring = '/org/freedesktop/secrets/collection/login';
  const lock = ['/org/freedesktop/secrets', 'org.freedesktop.Secret.Service.Lock', `array:objpath:${keyring}`];
  return {
    env: withBus,
    lock: () =>
      void execFileSync('dbus-send', ['--session', '--print-reply', '--dest=org.freedesktop.secrets', ...lock], {
        env: withBus,
      }),
    unlock: () => void execFileSync('sh', ['-c', unlock], { env: withBus }),
    async stop() {
      session.stdin.end();
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}
