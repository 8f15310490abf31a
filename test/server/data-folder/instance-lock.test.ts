import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { acquireInstanceLock, type InstanceLock } from '../../../server/data-folder/instance-lock.ts';
import { onlyIf } from '../../support/only-if.ts';
import { endProcess, plainEnvironment } from '../../support/program.ts';

let dataDir: string;
let path: string;
const children: ChildProcess[] = [];
const servers: TcpServer[] = [];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sluice-lock-'));
  path = join(dataDir, 'instance.json');
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const server of servers.splice(0)) server.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function acquire(): Promise<InstanceLock> {
  const lock = await acquireInstanceLock(dataDir);
  if ('holder' in lock) throw new Error(`held by ${JSON.stringify(lock.holder)}`);
  return lock;
}

async function startHolder(instanceId: string): Promise<{ child: ChildProcess; said: string }> {
  const script = join(import.meta.dirname, 'instance-holder.ts');
  const child = spawn(process.execPath, [script, dataDir, instanceId], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: plainEnvironment,
  });
  children.push(child);
  const [said] = await once(child.stdout, 'data');
  return { child, said: String(said).trim() };
}

async function serve(answer: (reply: (text: string) => void) => void): Promise<number> {
  const server = createServer((_, response) => answer((text) => response.end(text)));
  servers.push(server);
  return listening(server);
}

async function listening(server: TcpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** As left by another live process: the parent of this test process. */
async function leaveFile(info: { pid?: number; port?: number | null; startedAt?: number; instanceId?: string }) {
  const left = {
    pid: process.ppid,
    startedAt: Date.now(),
    instanceId: 'other',
    host: '127.0.0.1',
    port: null,
    ...info,
  };
  await writeFile(path, JSON.stringify(left));
  return left;
}

test('the file is private, names the holder of the folder, and is removed with the release', async () => {
  const lock = await acquire();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: process.pid, host: null, port: null });
  await lock.update({ host: '127.0.0.1', port: 4810, instanceId: 'i1' });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const info = { pid: process.pid, host: '127.0.0.1', port: 4810, instanceId: 'i1' };
  expect(await acquireInstanceLock(dataDir)).toEqual({ holder: { ...info, startedAt: expect.any(Number) } });
  await lock.release();
  expect(await readdir(dataDir)).toEqual([]);
  await (await acquire()).release();
});

test('another process that holds the folder is told, and after kill -9 the folder is free', async () => {
  const { child, said } = await startHolder('i1');
  expect(said).toBe('holding');
  expect(await acquireInstanceLock(dataDir)).toMatchObject({ holder: { pid: child.pid, instanceId: 'i1' } });
  expect((await startHolder('i2')).said).toBe(`held by ${child.pid}`);
  await endProcess(child, 'SIGKILL');
  expect(await readdir(dataDir)).toEqual(['instance.json']);
  await (await acquire()).release();
});

test('a file of a process that is gone is taken over', async () => {
  const gone = spawnSync(process.execPath, ['-e', '']).pid;
  await leaveFile({ pid: gone });
  await (await acquire()).release();
});

test('a file with the id of this very process, but not made by it, is taken over', async () => {
  await leaveFile({ pid: process.pid });
  await (await acquire()).release();
});

test('a process that is still starting holds the folder; one that never got to listen does not', async () => {
  const left = await leaveFile({});
  expect(await acquireInstanceLock(dataDir)).toEqual({ holder: left });
  await leaveFile({ startedAt: Date.now() - 60_000 });
  await (await acquire()).release();
});

test('a living process on whose port another instance, another program or nothing answers does not hold the folder', async () => {
  const another = await serve((reply) => reply('{"instance":"another"}'));
  const foreign = await serve((reply) => reply('<html>'));
  const closed = await serve(() => {});
  await new Promise((resolve) => servers.pop()?.close(resolve));
  for (const port of [another, foreign, closed]) {
    await leaveFile({ port });
    await (await acquire()).release();
  }
});

test('a living process that takes the connection but is too busy to answer keeps the folder', async () => {
  const left = await leaveFile({ port: await serve(() => {}) });
  expect(await acquireInstanceLock(dataDir)).toEqual({ holder: left });
});

test('a living process that is out of descriptors, and so closes what it accepts, keeps the folder', async () => {
  const server = createTcpServer((socket) => socket.resetAndDestroy());
  servers.push(server);
  const port = await listening(server);
  const left = await leaveFile({ port });
  for (let attempt = 0; attempt < 20; attempt++) {
    expect(await acquireInstanceLock(dataDir)).toEqual({ holder: left });
  }
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(left);
});

test('one that closes the connection in order without an answer keeps the folder too', async () => {
  const server = createTcpServer((socket) => socket.end());
  servers.push(server);
  const left = await leaveFile({ port: await listening(server) });
  expect(await acquireInstanceLock(dataDir)).toEqual({ holder: left });
});

test.runIf(onlyIf(process.platform !== 'win32', 'a shell limits the descriptors'))(
  'a second start that is out of descriptors itself leaves the folder to the one that has it',
  async () => {
    const left = await leaveFile({ port: await serve((reply) => reply('{"instance":"other"}')) });
    const script = join(import.meta.dirname, 'start-without-descriptors.ts');
    const said = spawnSync(process.execPath, [script, dataDir], {
      encoding: 'utf8',
      env: plainEnvironment,
    });
    expect(said.stdout, said.stderr).toContain('this program may open no more files (EMFILE)');
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(left);
  },
);

test.each(['', '{', '{"pid":"x"}'])('a file that holds %j is taken over', async (text) => {
  await writeFile(path, text);
  await (await acquire()).release();
  expect(await readdir(dataDir)).toEqual([]);
});

test('of many that start at once on a stale file exactly one gets the folder', async () => {
  await leaveFile({ pid: spawnSync(process.execPath, ['-e', '']).pid });
  const said = await Promise.all(Array.from({ length: 6 }, async (_, index) => (await startHolder(`i${index}`)).said));
  expect(said.filter((each) => each === 'holding')).toHaveLength(1);
  expect(said.filter((each) => each.startsWith('held by '))).toHaveLength(5);
});

test('a lock that was taken over by another process leaves that process its file', async () => {
  const lock = await acquire();
  const left = await leaveFile({});
  await lock.update({ host: '127.0.0.1', port: 1, instanceId: 'i1' });
  await lock.release();
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(left);
});

test('a folder that cannot be written is a clear error', async () => {
  await expect(acquireInstanceLock(join(dataDir, 'none'))).rejects.toThrow(
    /instance\.json cannot be written: there is no such file/,
  );
});
