import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keychainMarkerName } from '../../../server/secrets/keychain.ts';
import { openSecretStore } from '../../../server/secrets/open-secret-store.ts';
import { plainEnvironment } from '../../support/program.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sluice-secrets-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

/**
 * What this machine lacks for a real keychain. With CI=true nothing counts as missing, so that the tests fail there
 * instead.
 */
function missingTools(): string[] {
  const programs = ['dbus-run-session', 'gnome-keyring-daemon'];
  const missing = programs.filter((program) => spawnSync('which', [program]).status !== 0);
  try {
    createRequire(import.meta.url)('keytar');
  } catch {
    missing.push('keytar');
  }
  return missing;
}

const missing = missingTools();
const canTestKeychain = missing.length === 0 || process.env.CI === 'true';
if (!canTestKeychain) console.warn(`No test against a real keychain on this machine: ${missing.join(', ')} missing.`);

function run(
  command: string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: number | null; output: string; errors: string }> {
  return new Promise((resolve) => {
    const [program = '', ...parameters] = command;
    const child = spawn(program, parameters, { env: { ...plainEnvironment, ...env } });
    let output = '';
    let errors = '';
    child.stdout.on('data', (piece) => (output += piece));
    child.stderr.on('data', (piece) => (errors += piece));
    child.on('close', (code) => resolve({ code, output, errors }));
  });
}

describe.runIf(canTestKeychain)('with gnome-keyring', () => {
  test('secrets go into the keychain, stay apart by data folder and can be read by a later start', async () => {
    expect(missing).toEqual([]);
    const script = join(import.meta.dirname, 'keychain-script.ts');
    const session = `printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1 && exec "$0" "$1"`;
    const command = ['dbus-run-session', '--', 'sh', '-c', session, process.execPath, script];
    const home = { HOME: dataDir, XDG_DATA_HOME: dataDir, XDG_CACHE_HOME: dataDir, XDG_RUNTIME_DIR: dataDir };
    const { code, output, errors } = await run(command, home);
    expect(errors).not.toContain('planted-secret');
    expect(code, errors).toBe(0);
    expect(JSON.parse(output)).toMatchObject({
      kind: 'keychain',
      notices: [],
      isMarkedBefore: false,
      isMarkedAfter: true,
      value: 'planted-secret ü\n2',
      replaced: 'new',
      list: ['key/k1', 'provider/main/c1'],
      otherFolder: [null, []],
      missing: true,
      listAfterDelete: ['provider/main/c1'],
    });
  });
});

/** Opens the store in a separate process with this D-Bus address, because libsecret reads it from the environment. */
async function openWithBus(address: string, prefer: 'auto' | 'keychain' = 'auto') {
  const source = `
    import { openSecretStore } from ${JSON.stringify(join(import.meta.dirname, '../../../server/secrets/open-secret-store.ts'))};
    const startedAt = performance.now();
    const seen = await openSecretStore({ dataDir: ${JSON.stringify(dataDir)}, prefer: '${prefer}' }).then(
      ({ store, choice, notices }) => ({ kind: store.kind, choice, notices }),
      (error) => ({ error: error.message }),
    );
    process.stdout.write(JSON.stringify({ ...seen, tookMs: performance.now() - startedAt }));`;
  const startedAt = performance.now();
  const env = { DBUS_SESSION_BUS_ADDRESS: address };
  const { code, output, errors } = await run([process.execPath, '--input-type=module', '-e', source], env);
  expect(code, errors).toBe(0);
  return { ...JSON.parse(output), processMs: performance.now() - startedAt };
}

describe('without an answering keychain', () => {
  test('the encrypted file is used at once, and one line says so', async () => {
    const opened = await openWithBus('unix:path=/nonexistent/bus');
    expect(opened.kind).toBe('file');
    expect(opened.tookMs).toBeLessThan(15_000);
    expect(opened.choice).toMatch(/^No OS keychain answers here \(.+\)\. Credentials are kept in the encrypted file /);
    expect(opened.notices).toEqual([]);
    expect(await readdir(dataDir)).toEqual([]);
  });

  test('a keychain that accepts the call but never answers delays neither the start nor the end of the program', async () => {
    const bus = createServer((socket) => socket.resume().on('error', () => {}));
    const address = join(dataDir, 'bus');
    await new Promise<void>((resolve) => bus.listen(address, resolve));
    const opened = await openWithBus(`unix:path=${address}`);
    await new Promise((resolve) => bus.close(resolve));
    expect(opened.kind).toBe('file');
    // Without a time limit, it would wait for ever.
    expect(opened.tookMs).toBeLessThan(15_000);
    expect(opened.processMs).toBeLessThan(20_000);
  });

  test('a keychain that holds the secrets but is unavailable stays in use, and one line reports it', async () => {
    await writeFile(join(dataDir, keychainMarkerName), '');
    const opened = await openWithBus('unix:path=/nonexistent/bus');
    expect(opened.kind).toBe('keychain');
    expect(opened.notices).toEqual([expect.stringContaining('does not respond')]);
  });

  test('asking for the keychain alone fails with the reason', async () => {
    const { error } = await openWithBus('unix:path=/nonexistent/bus', 'keychain');
    expect(error).toMatch(/^No OS keychain answers here \(.+\)\.$/);
  });
});

test('an encrypted file that holds secrets is used without asking any keychain', async () => {
  const { store } = await openSecretStore({ dataDir, prefer: 'file' });
  await store.set('key/k1', 'value');
  const reopened = await openSecretStore({ dataDir });
  expect(reopened.store.kind).toBe('file');
  expect(await reopened.store.get('key/k1')).toBe('value');
});
