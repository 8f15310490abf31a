/** The passphrase of the secrets in the database, changed while replicas run. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { encryptedFileName, loginsFolder, openEncryptedFile } from '../../../../server/secrets/encrypted-file.ts';
import type { SecretStore } from '../../../../server/secrets/secret-store.ts';
import { openSealedSecrets } from '../../../../server/store/postgres/secret-store.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openTables } from '../../../support/postgres-store.ts';
import { ensureBuilt, startProgram } from '../../../support/program.ts';

const former = 'the former phrase';
const next = 'the next phrase';

describe.runIf(hasPostgres())('the passphrase of the secrets in the database', () => {
  const server = startPostgresInSuite();
  beforeAll(ensureBuilt);
  let url: string;
  beforeEach(async () => {
    url = await server.createDatabase();
  });

  /** A running replica that was started with this passphrase. Rejects like its start. */
  async function replica(passphrase: string): Promise<SecretStore & { close(): Promise<void> }> {
    const tables = await openTables(url);
    try {
      return { ...(await openSealedSecrets(tables, { passphrase })), close: () => tables.close() };
    } catch (error) {
      await tables.close();
      throw error;
    }
  }

  const passphrase = (verb: 'change' | 'finish', env: Record<string, string>) =>
    startProgram(['passphrase', verb, '--json'], { env: { SLUICE_STORE: url, ...env } });
  const change = (env = { SLUICE_PASSPHRASE: former, SLUICE_NEW_PASSPHRASE: next }) => passphrase('change', env);
  const resultOf = async ({ ended, output }: ReturnType<typeof change>) => ({
    code: await ended,
    ...JSON.parse(output.stdout || output.stderr),
  });
  const names = (count: number) => Array.from({ length: count }, (_, index) => `keys/k${index}`);
  const fill = async (store: SecretStore, count: number) => {
    for (const name of names(count)) await store.set(name, `value of ${name}`);
  };
  const readAll = async (store: SecretStore, count: number) => {
    const values = await Promise.all(names(count).map((name) => store.get(name)));
    expect(values).toEqual(names(count).map((name) => `value of ${name}`));
  };

  test('tells of the sign-in to another gateway in the data folder of a replica, and how it is changed', async () => {
    const secrets = await replica(former);
    await secrets.close();
    const dataDir = mkdtempSync(join(tmpdir(), 'sluice-joined-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true }));
    mkdirSync(loginsFolder(dataDir));
    await (await openEncryptedFile(loginsFolder(dataDir), former)).set('gateway/a', 'a token');
    const env = { SLUICE_DATA_DIR: dataDir, SLUICE_PASSPHRASE: former, SLUICE_NEW_PASSPHRASE: next };
    const { ended, output } = passphrase('change', env);
    expect(await ended).toBe(0);
    const command = `env -u SLUICE_STORE sluice passphrase change --data-dir ${dataDir}`;
    expect(output.stderr).toContain(
      `${join(loginsFolder(dataDir), encryptedFileName)} is still encrypted with the former`,
    );
    expect(output.stderr).toContain(command);
    const words = command.split(' ').slice(4);
    const { SLUICE_DATA_DIR: _, ...phrases } = env;
    expect(await startProgram(words, { env: phrases }).ended).toBe(0);
    expect(await (await openEncryptedFile(loginsFolder(dataDir), next)).get('gateway/a')).toBe('a token');
  });

  test('changes under running replicas, which read and write on; the former one ends when it is finished', async () => {
    const [one, two] = [await replica(former), await replica(former)];
    await fill(one, 20);
    expect(await resultOf(change())).toEqual({ code: 0, secrets: 20, changed: true });
    await readAll(one, 20);
    await two.set('keys/k3', 'value of keys/k3');
    const started = await replica(next);
    await started.set('keys/k4', 'value of keys/k4');
    // A replica that restarts in between may still have the former one.
    const restarted = await replica(former);
    for (const each of [one, two, started, restarted]) await readAll(each, 20);

    expect(await resultOf(change())).toEqual({ code: 0, secrets: 20, changed: false });
    const third = { SLUICE_PASSPHRASE: next, SLUICE_NEW_PASSPHRASE: 'a third' };
    expect(await resultOf(change(third))).toMatchObject({
      code: 1,
      error: { message: expect.stringContaining('sluice passphrase finish') },
    });
    expect(await resultOf(passphrase('finish', { SLUICE_PASSPHRASE: former }))).toMatchObject({ code: 1 });
    expect(await resultOf(passphrase('finish', { SLUICE_PASSPHRASE: next }))).toEqual({ code: 0, finished: true });
    expect(await resultOf(passphrase('finish', { SLUICE_PASSPHRASE: next }))).toEqual({ code: 0, finished: false });
    await expect(replica(former)).rejects.toMatchObject({ code: 'invalid_value' });
    for (const each of [one, two, started]) await readAll(each, 20);
    await one.set('keys/k5', 'value of keys/k5');
    await readAll(started, 20);

    expect(await resultOf(change(third))).toEqual({ code: 0, secrets: 20, changed: true });
    for (const each of [one, two, started, restarted]) await each.close();
  });

  test('stays as it was if the former one is wrong', async () => {
    const store = await replica(former);
    await fill(store, 3);
    const wrong = await resultOf(change({ SLUICE_PASSPHRASE: 'wrong', SLUICE_NEW_PASSPHRASE: next }));
    expect(wrong).toMatchObject({ code: 1, error: { message: expect.stringContaining('SLUICE_PASSPHRASE is not') } });
    await expect(replica(next)).rejects.toThrow();
    await readAll(store, 3);
    await store.close();
  });

  test('is changed as a whole or not at all, whenever the command is killed, while a replica writes', async () => {
    const count = 300;
    const store = await replica(former);
    await fill(store, count);
    let isWriting = true;
    const writing = (async () => {
      for (let turn = 0; isWriting; turn++) {
        const name = `keys/k${turn % count}`;
        await store.set(name, `value of ${name}`);
      }
    })();
    const begun = performance.now();
    const whole = startProgram(['passphrase', 'finish'], { env: { SLUICE_STORE: url, SLUICE_PASSPHRASE: former } });
    expect(await whole.ended).toBe(0);
    const startMs = performance.now() - begun;
    const seen = new Set<boolean>();
    for (const part of [0.7, 0.9, 1, 1.1, 1.3]) {
      const killed = change();
      await sleep(startMs * part);
      killed.child.kill('SIGKILL');
      await killed.ended;
      const isChanged = await replica(next).then(
        (other) => other.close().then(() => true),
        () => false,
      );
      seen.add(isChanged);
      const restarted = await replica(former);
      await readAll(restarted, count);
      await restarted.close();
    }
    expect(seen.has(false)).toBe(true);
    const last = await resultOf(change());
    expect(last).toMatchObject({ code: 0, secrets: count });
    isWriting = false;
    await writing;
    expect(await resultOf(passphrase('finish', { SLUICE_PASSPHRASE: next }))).toEqual({ code: 0, finished: true });
    const started = await replica(next);
    await readAll(started, count);
    await readAll(store, count);
    await started.close();
    await store.close();
  });
});
