/**
 * The built program with a real keychain (gnome-keyring, unlocked, in a separate D-Bus session), and on a machine
 * without one. Skipped without the programs for the former, but with CI=true it fails.
 *
 * @suite long
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { onlyIf } from '../support/only-if.ts';
import { ensureBuilt } from '../support/program.ts';
import { json, startUpstream } from '../support/upstream.ts';
import { type Sluice, startSluice } from './sluice.ts';

const credential = 'sk-planted-in-the-keychain';
const chat = { method: 'POST', body: '{"model":"gpt-x","messages":[]}' };

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const lacking = process.platform === 'linux' ? missing() : ['Linux'];
const hasKeychain = onlyIf(
  lacking.length === 0 || process.env.CI === 'true',
  `gnome-keyring is tried only with ${lacking.join(', ')}`,
);

/** What this machine lacks for a real keychain. */
function missing(): string[] {
  const programs = ['dbus-run-session', 'gnome-keyring-daemon'];
  const notThere = programs.filter((program) => spawnSync('which', [program]).status !== 0);
  try {
    createRequire(import.meta.url).resolve('keytar');
    return notThere;
  } catch {
    return [...notThere, 'keytar'];
  }
}

interface KeychainSession {
  /** Environment in which programs reach the keychain. */
  env: Record<string, string>;
  /** The secret for this service and account, read by another program. */
  find(service: string, account: string): Promise<string>;
}

/** Runs until the test ends. */
async function startKeychain(): Promise<KeychainSession> {
  const home = mkdtempSync(join(tmpdir(), 'sluice-keychain-'));
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    XDG_DATA_HOME: home,
    XDG_CACHE_HOME: home,
    XDG_RUNTIME_DIR: home,
    SLUICE_SECRETS: 'auto',
  };
  const script =
    'printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1 && echo "$DBUS_SESSION_BUS_ADDRESS" && cat';
  // The session ends when its stdin is closed, together with the bus and the keychain.
  const session = spawn('dbus-run-session', ['--', 'sh', '-c', script], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(session, 'close');
  stops.push(async () => {
    session.stdin.end();
    await ended;
    rmSync(home, { recursive: true, force: true });
  });
  const [address] = await once(session.stdout, 'data');
  const withBus = { ...env, DBUS_SESSION_BUS_ADDRESS: String(address).trim() };
  const keytar = createRequire(import.meta.url).resolve('keytar');
  const source = 'require(process.argv[1]).getPassword(...process.argv.slice(2)).then((found) => console.log(found))';
  return {
    env: withBus,
    async find(service, account) {
      const parameters = ['-e', source, keytar, service, account];
      const { stdout } = await promisify(execFile)(process.execPath, parameters, { env: withBus });
      return stdout.trim();
    },
  };
}

async function start(env: Record<string, string>): Promise<Sluice> {
  const sluice = await startSluice({ env });
  stops.push(sluice.remove);
  return sluice;
}

/** Adds a provider that answers with the received credential. */
async function addProvider(sluice: Sluice): Promise<void> {
  const upstream = await startUpstream((request, response) => json(response, { sent: request.headers.authorization }));
  stops.push(upstream.stop);
  const add = [
    'provider',
    'add',
    '--url',
    upstream.baseUrl,
    '--id',
    'main',
    '--models',
    '*',
    '--credential-stdin',
    '--no-test',
  ];
  const added = await sluice.cli(add, { input: `${credential}\n` });
  expect(added.code, added.stderr).toBe(0);
}

async function expectUsed(sluice: Sluice): Promise<void> {
  const response = await sluice.fetch('/chat/completions', chat);
  expect(await response.json()).toEqual({ sent: `Bearer ${credential}` });
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

describe.runIf(hasKeychain)('with a keychain', () => {
  test('the credential goes into it and nowhere else, and is read again after a restart', async () => {
    expect(missing()).toEqual([]);
    const keychain = await startKeychain();
    const sluice = await start(keychain.env);
    await addProvider(sluice);
    expect(sluice.output.stderr).toBe('');
    await expectUsed(sluice);

    const { secretStore } = await sluice.query({ type: 'status' });
    const service = /under the name "(.+)"/.exec(secretStore ?? '')?.[1] ?? '';
    expect(await keychain.find(service, 'provider/main/c1')).toBe(credential);
    const files = readdirSync(sluice.folder);
    expect(files).toContain('secrets.in-keychain');
    expect(files.filter((name) => /^secrets\.(enc|key)$/.test(name))).toEqual([]);
    for (const name of files.filter((file) => file.includes('.'))) {
      expect(readFileSync(join(sluice.folder, name), 'latin1'), name).not.toContain(credential);
    }

    expect(await sluice.end()).toBe(0);
    await sluice.start();
    await expectUsed(sluice);
    const doctor = await sluice.cli(['doctor', '--json']);
    expect(doctor.stdout).toContain('in the keychain of the operating system');
    expect((await sluice.cli(['provider', 'remove', 'main', '--yes'])).code).toBe(0);
    expect(await keychain.find(service, 'provider/main/c1')).toBe('null');
  });
});

describe('without a keychain', () => {
  const env = { SLUICE_SECRETS: 'auto', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' };

  test('it starts as fast as without a keychain, reports where secrets are, and keeps them over a restart', async () => {
    await ensureBuilt();
    // Measured in pairs, several times, because the machine may be busy for a moment.
    let isSoon = false;
    for (let attempt = 0; attempt < 8 && !isSoon; attempt++) {
      const withoutMs = await timeOf(() => start({ SLUICE_SECRETS: 'file' }));
      isSoon = (await timeOf(() => start(env))) < 2 * withoutMs + 500;
    }
    expect(isSoon).toBe(true);
    const sluice = await start(env);
    await addProvider(sluice);
    expect(sluice.output.stderr).toMatch(
      /^No OS keychain answers here \(.+\)\. Credentials are kept in the encrypted file /,
    );
    expect(sluice.output.stderr.trim().split('\n')).toHaveLength(1);
    await expectUsed(sluice);
    expect(readFileSync(join(sluice.folder, 'secrets.enc'), 'latin1')).not.toContain(credential);
    expect(existsSync(join(sluice.folder, 'secrets.in-keychain'))).toBe(false);
    await sluice.end();
    await sluice.start();
    await expectUsed(sluice);
    expect((await sluice.query({ type: 'status' })).secretStore).toContain('encrypted file');
  });

  test('a wrong passphrase is reported at the start, and nothing stored is lost', async () => {
    const sluice = await start({ ...env, SLUICE_PASSPHRASE: 'right' });
    await addProvider(sluice);
    await sluice.end();
    const before = readFileSync(join(sluice.folder, 'secrets.enc'));
    await sluice.start({ SLUICE_PASSPHRASE: 'wrong' });
    expect(sluice.output.stderr).toMatch(
      /^There is no secret for provider\/main\/c1: .* does not open with this SLUICE_PASSPHRASE/,
    );
    expect((await sluice.fetch('/chat/completions', chat)).status).toBe(503);
    expect((await sluice.cli(['key', 'create'])).code).toBe(1);
    await sluice.end();
    expect(readFileSync(join(sluice.folder, 'secrets.enc'))).toEqual(before);
    await sluice.start();
    await expectUsed(sluice);
  });
});
