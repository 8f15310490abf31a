import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Spool, spoolCounts } from '../../../../server/http/body/spool.ts';
import { onlyIf } from '../../../support/only-if.ts';
import { readAll } from './upload-server.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sluice-spool-'));
});
afterEach(async () => {
  expect(spoolCounts).toEqual({ spools: 0, files: 0 });
  await rm(folder, { recursive: true, force: true });
});

function write(spool: Spool, chunk: Buffer): Promise<void> {
  return new Promise((resolve, reject) => spool.write(chunk, (error) => (error ? reject(error) : resolve())));
}

async function filled(bytes: Buffer, memoryBytes: number): Promise<Spool> {
  const spool = new Spool({ folder, memoryBytes });
  for (let at = 0; at < bytes.length; at += 1000) await write(spool, bytes.subarray(at, at + 1000));
  await spool.finish();
  return spool;
}

const canSeeHandles = onlyIf(process.platform === 'linux', 'which files are open is read from /proc');

/** Open files in the spools' folder, including deleted ones. */
async function openFiles(): Promise<string[]> {
  const handles = await readdir('/proc/self/fd');
  const names = await Promise.all(handles.map((handle) => readlink(`/proc/self/fd/${handle}`).catch(() => '')));
  return names.filter((name) => name.startsWith(folder));
}

test('up to its bound it stays in memory', async () => {
  const bytes = randomBytes(5_000);
  const spool = await filled(bytes, 5_000);
  expect(spool.size).toBe(5_000);
  expect(spool.whole().open()).toEqual(bytes);
  expect(await readdir(folder)).toEqual([]);
  await spool.dispose();
});

test('past its bound it is one file that only this user can read', async () => {
  const bytes = randomBytes(5_001);
  const spool = await filled(bytes, 5_000);
  const [name = '', ...others] = await readdir(folder);
  expect(others).toEqual([]);
  expect((await stat(path.join(folder, name))).mode & 0o777).toBe(0o600);
  expect(await readFile(path.join(folder, name))).toEqual(bytes);
  expect(spoolCounts).toEqual({ spools: 1, files: 1 });
  await spool.dispose();
  expect(await readdir(folder)).toEqual([]);
});

describe.each([
  ['in memory', 1_000_000],
  ['in a file', 0],
])('a spool %s', (_where, memoryBytes) => {
  test('is read again and again, also at the same time', async () => {
    const bytes = randomBytes(200_000);
    const spool = await filled(bytes, memoryBytes);
    const body = spool.whole();
    expect(body.length).toBe(200_000);
    expect((await readAll(body)).equals(bytes)).toBe(true);
    for (const read of await Promise.all([readAll(body), readAll(body)])) expect(read.equals(bytes)).toBe(true);
    await spool.dispose();
  });

  test('assembles ranges and other bytes', async () => {
    const spool = await filled(Buffer.from('0123456789'), memoryBytes);
    const body = spool.assemble([
      { start: 0, end: 3 },
      Buffer.from('abc'),
      { start: 5, end: 5 },
      { start: 8, end: 10 },
    ]);
    expect(body.length).toBe(8);
    expect((await readAll(body)).toString()).toBe('012abc89');
    await spool.dispose();
  });

  test('may be empty', async () => {
    const spool = await filled(Buffer.alloc(0), memoryBytes);
    expect(await readAll(spool.whole())).toEqual(Buffer.alloc(0));
    await spool.dispose();
  });

  test('is disposed of twice without harm, and takes nothing afterwards', async () => {
    const spool = await filled(randomBytes(3_000), memoryBytes);
    await Promise.all([spool.dispose(), spool.dispose()]);
    await spool.dispose();
    await expect(write(spool, Buffer.from('x'))).rejects.toThrow('abandoned');
  });

  test('is disposed of while a write is under way', async () => {
    const spool = new Spool({ folder, memoryBytes });
    const writing = write(spool, randomBytes(3_000_000));
    await spool.dispose();
    await writing;
    expect(await readdir(folder)).toEqual([]);
  });
});

test('a read is ended by the disposal, and its file handle with it', async () => {
  const spool = await filled(randomBytes(1_000_000), 0);
  const reader = spool.whole().open();
  if (!(reader instanceof Readable)) throw new Error('not a stream');
  const first = await new Promise<Buffer>((resolve) => reader.once('data', resolve));
  expect(first.length).toBe(256 * 1024);
  reader.pause();
  if (canSeeHandles) expect(await openFiles()).toHaveLength(1);
  const ended = finished(reader).catch((error: unknown) => error);
  await spool.dispose();
  expect(await ended).toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
  if (canSeeHandles) expect(await openFiles()).toEqual([]);
  expect(reader.closed).toBe(true);
});

test.runIf(canSeeHandles)('a stream that is abandoned before it was read leaves no handle', async () => {
  const spool = await filled(randomBytes(1_000), 0);
  const reader = spool.whole().open();
  if (!(reader instanceof Readable)) throw new Error('not a stream');
  await finished(reader.destroy()).catch(() => undefined);
  await spool.dispose();
  expect(await openFiles()).toEqual([]);
});

test('a write that fails is told, and disposal still works', async () => {
  const spool = new Spool({ folder: path.join(folder, 'missing'), memoryBytes: 0 });
  await expect(write(spool, Buffer.from('x'))).rejects.toMatchObject({ code: 'ENOENT' });
  await spool.dispose();
});

test('a file that someone shortened is not sent as if it were whole', async () => {
  const spool = await filled(randomBytes(100_000), 0);
  const [name = ''] = await readdir(folder);
  await writeFile(path.join(folder, name), 'short');
  await expect(readAll(spool.whole())).rejects.toThrow('truncated');
  await spool.dispose();
});
