/**
 * A start with a data folder that cannot be written: the existing configuration is served, and everything else works
 * once writing is possible.
 *
 * @suite long
 */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { onlyIf } from '../support/only-if.ts';
import { startProgram } from '../support/program.ts';
import { fillDisk } from '../support/small-disk.ts';
import { json, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';
import { type Sluice, startSluice } from './sluice.ts';

const canMount = onlyIf(
  process.platform === 'linux' && (process.getuid?.() === 0 || process.env.CI === 'true'),
  'only root on Linux can mount a disk that is read-only or full',
);

describe.runIf(canMount)('a start on a data folder', () => {
  let upstream: ScriptedUpstream;
  let sluice: Sluice;

  beforeAll(async () => {
    upstream = await startUpstream((_request, response) => json(response, { object: 'chat.completion', choices: [] }));
  });
  afterAll(() => upstream.stop());

  /** A small separate disk with the files of a first run. */
  beforeEach(async () => {
    sluice = await startSluice();
    const provider = { baseUrl: upstream.baseUrl, models: ['*'] };
    await sluice.execute({ type: 'provider.add', id: 'studio', provider, credentials: [{ id: 'c1', secret: 's-1' }] });
    expect(await sluice.end()).toBe(0);
    execFileSync('cp', ['-a', sluice.folder, `${sluice.folder}-copy`]);
    mount('-t', 'tmpfs', '-o', 'size=4m,mode=700', 'tmpfs', sluice.folder);
    execFileSync('cp', ['-a', `${sluice.folder}-copy/.`, sluice.folder]);
  });
  afterEach(async () => {
    await sluice.end('SIGKILL');
    execFileSync('umount', ['-l', sluice.folder]);
    rmSync(`${sluice.folder}-copy`, { recursive: true, force: true });
    await sluice.remove();
  });

  const mount = (...parameters: string[]) => execFileSync('mount', parameters, { stdio: 'pipe' });
  const remount = (mode: 'ro' | 'rw') => mount('-o', `remount,${mode}`, sluice.folder);
  const filler = () => join(sluice.folder, 'filler');
  const fill = () => {
    try {
      writeFileSync(filler(), Buffer.alloc(8 * 1024 * 1024));
    } catch {
      // The disk is full.
    }
  };

  const chat = async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }] });
    const response = await sluice.fetch('/chat/completions', { method: 'POST', headers, body });
    return [response.status, await response.json()];
  };
  const ledger = async () => (await sluice.query({ type: 'status' })).ledger;
  const makeKey = () => sluice.execute({ type: 'key.create', name: 'Another' });

  test.each([
    {
      what: 'is read-only',
      reason: /disk is read-only \(EROFS\)/,
      begin: () => remount('ro'),
      end: () => remount('rw'),
    },
    { what: 'is full', reason: /disk is full \(ENOSPC\)/, begin: fill, end: () => rmSync(filler()) },
  ])(
    'that $what serves, reports what it does not store, and recovers by itself',
    {
      timeout: 60_000,
    },
    async ({ reason, begin, end }) => {
      begin();
      await sluice.start();
      expect(sluice.output.stderr).toMatch(reason);
      expect(sluice.output.stderr).toContain('what is asked is not recorded and no change can be made');
      const answered = [200, { object: 'chat.completion', choices: [] }];
      expect(await chat()).toEqual(answered);
      await expect.poll(ledger).toMatchObject({ ok: false, dropped: 0, lastError: expect.any(String) });
      await expect(makeKey()).rejects.toThrow(/cannot be written: /);
      const doctor = await sluice.cli(['doctor']);
      expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringMatching(reason)]);
      expect(doctor.stdout).toMatch(/FAILED {2}data folder/);
      const keys = (await sluice.query({ type: 'config' })).config.keys.length;

      end();
      expect(await chat()).toEqual(answered);
      await expect.poll(ledger, { timeout: 15_000 }).toMatchObject({ ok: true, pending: 0, dropped: 0 });
      expect((await sluice.query({ type: 'requests' })).requests).toHaveLength(2);
      await makeKey();
      expect((await sluice.query({ type: 'config' })).config.keys).toHaveLength(keys + 1);
      await expect.poll(() => existsSync(join(sluice.folder, 'instance.json')), { timeout: 20_000 }).toBe(true);
      expect((await sluice.cli(['key', 'list', '--json'])).stdout).toContain('Another');
      expect(await sluice.end()).toBe(0);
      expect(existsSync(join(sluice.folder, 'instance.json'))).toBe(false);
    },
  );

  test('that is full by the time of SIGTERM ends all the same, and tells what was not written', async () => {
    // A disk of their own, since the ledger's end makes room on its own.
    const logs = join(sluice.folder, 'logs');
    mount('-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', logs);
    try {
      await sluice.start();
      expect((await chat())[0]).toBe(200);
      await expect.poll(ledger).toMatchObject({ ok: true, pending: 0 });
      for (const disk of [sluice.folder, logs]) fillDisk(disk);
      // Rows and lines that fit into existing pages are still written.
      await expect.poll(async () => [(await chat())[0], (await ledger()).ok]).toEqual([200, false]);
      for (let round = 0; round < 100; round++) expect((await chat())[0]).toBe(200);
      const signalledMs = performance.now();
      expect(await sluice.end('SIGTERM')).toBe(0);
      expect(performance.now() - signalledMs).toBeLessThan(10_000);
      expect(sluice.output.stderr).toMatch(/\d+ rows of the ledger could not be written: .*full/);
      expect(sluice.output.stderr).toMatch(/\d+ lines of the log could not be written to .*sluice\.log/);
    } finally {
      await sluice.end('SIGKILL');
      execFileSync('umount', ['-l', logs]);
    }
  });

  test('that is read-only has one Sluice: a second is refused', async () => {
    remount('ro');
    await sluice.start();
    const second = startProgram(['serve', '--json', '--port', '0', '--data-dir', sluice.folder]);
    expect(await second.ended).toBe(3);
    expect(second.output.stderr).toContain(`Sluice is already running on the data folder ${sluice.folder}: process`);
    const { stdout } = await sluice.cli(['window']);
    expect(stdout).toContain('/control/session?token=');
  });

  test('that is read-only and never had an admin token is managed by the command line all the same', async () => {
    rmSync(join(sluice.folder, 'admin.token'));
    remount('ro');
    await sluice.start();
    expect(await sluice.cli(['window'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('/control/session'),
    });
    expect(await sluice.end()).toBe(0);
  });

  test('that another process holds is refused, even if its disk is full by now', async () => {
    await sluice.start();
    fill();
    const second = startProgram(['serve', '--json', '--port', '0', '--data-dir', sluice.folder]);
    expect(await second.ended).not.toBe(0);
    expect(second.output.stderr).toContain('Sluice is already running on the data folder');
  });

  test('that is read-only and was never used is refused: there is nothing to serve', async () => {
    execFileSync('find', [sluice.folder, '-mindepth', '1', '-delete']);
    remount('ro');
    const first = startProgram(['serve', '--json', '--port', '0', '--data-dir', sluice.folder]);
    expect(await first.ended).not.toBe(0);
    expect(first.output.stderr).toContain(`The data folder ${sluice.folder} cannot be used: the disk is read-only`);
  });
});
