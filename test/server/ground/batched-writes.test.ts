/** Batched writes: made together at the end of a turn of the event loop, and never lost. */
import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { DelayedWrites } from '../../../server/ground/fast-paths.ts';

const opened: { destroy(): unknown }[] = [];
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});

/** Two ends of a connection. The writes of `ours` are batched; `made` receives its name when it writes to the system. */
async function connection(name: string, made: string[]): Promise<{ ours: Socket; theirs: Socket }> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const theirs = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [ours] = (await once(server, 'connection')) as [Socket];
  server.close();
  opened.push(ours, theirs);
  const { _write: write, _writev: writev } = ours;
  ours._write = (...values) => {
    made.push(name);
    write.apply(ours, values);
  };
  ours._writev = (...values) => {
    made.push(`${name}, several`);
    writev?.apply(ours, values);
  };
  new DelayedWrites(ours, {});
  return { ours, theirs };
}

async function received(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

test('writes of one turn are made one after another at its end', async () => {
  const made: string[] = [];
  const [first, second] = [await connection('first', made), await connection('second', made)];
  first.ours.write('one ');
  second.ours.write('other ');
  first.ours.write('two ');
  first.ours.write('three');
  expect(made).toEqual([]);
  await setImmediate();
  expect(made).toEqual(['first', 'first, several', 'second']);
  first.ours.end();
  expect(await received(first.theirs)).toBe('one two three');
});

test('a write of 64 kB is made at once', async () => {
  const made: string[] = [];
  const { ours } = await connection('large', made);
  ours.write(Buffer.alloc(64 * 1024));
  expect(made).toEqual(['large']);
});

test('what was written directly before a socket is destroyed arrives', async () => {
  const { ours, theirs } = await connection('destroyed', []);
  const text = received(theirs);
  ours.write('one ');
  ours.write('two');
  ours.destroy();
  expect(await text).toBe('one two');
});

test('a socket that was destroyed meanwhile fails its write, and delays no other', async () => {
  const [broken, sound] = [await connection('broken', []), await connection('sound', [])];
  const text = received(sound.theirs);
  // The system has ended the connection; this end has not heard of it yet.
  broken.theirs.resetAndDestroy();
  broken.ours.on('error', () => {});
  broken.ours.write('lost');
  sound.ours.end('arrives');
  expect(await text).toBe('arrives');
});

test('a listener that throws while a batch is written keeps no other socket from being written to', async () => {
  const [first, second] = [await connection('first', []), await connection('second', [])];
  const text = received(second.theirs);
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const thrown = once(process, 'uncaughtException');
  first.ours.on('drain', () => {
    throw new Error('a fault of the listener');
  });
  // More than the high-water mark, in pieces that are batched, so that `drain` follows.
  for (let piece = 0; piece < 4; piece++) first.ours.write(Buffer.alloc(32 * 1024));
  second.ours.end('arrives');
  try {
    expect(String(await thrown)).toContain('a fault of the listener');
    expect(await text).toBe('arrives');
  } finally {
    for (const listener of others) process.on('uncaughtException', listener);
  }
});
