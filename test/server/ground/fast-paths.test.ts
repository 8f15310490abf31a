import { createServer, type ServerResponse } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { endWith, switchFastPaths, writePiece } from '../../../server/ground/fast-paths.ts';

const server = createServer();
let client: Socket;
let response: ServerResponse;
let received: Buffer[];
let ended: Promise<unknown>;

/** Sends a request with this method as raw bytes. */
async function ask(method: string): Promise<void> {
  const arrived = new Promise<ServerResponse>((resolve) => server.once('request', (_request, reply) => resolve(reply)));
  client = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  received = [];
  client.on('data', (bytes) => received.push(bytes));
  ended = new Promise((resolve) => client.once('close', resolve));
  client.write(`${method} / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  response = await arrived;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

const bodyReceived = () => {
  const all = Buffer.concat(received).toString('latin1');
  return all.slice(all.indexOf('\r\n\r\n') + 4);
};
const asChunk = (bytes: Buffer) => `${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`;
const turn = () => new Promise(setImmediate);

beforeEach(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterEach(() => {
  client.destroy();
  server.close();
});
const areOn = process.env.SLUICE_FAST_PATHS !== 'off';
afterEach(() => switchFastPaths(areOn));

describe.each([
  ['on', true],
  ['off', false],
])('a response is written the same with the fast paths %s', (_, isWanted) => {
  beforeEach(() => switchFastPaths(isWanted));

  test('pieces of every length arrive as chunks, in order, whatever waits in the socket', async () => {
    await ask('GET');
    const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const pieces = [Buffer.from('first'), everyByte, Buffer.alloc(64 * 1024, 7), Buffer.from('after'), everyByte];
    let isFirst = true;
    for (const piece of [...pieces, ...pieces]) {
      writePiece(response, piece, isFirst);
      isFirst = false;
      // Half of the pieces arrive while the previous one is still in the socket.
      if (piece.length === everyByte.length) await turn();
    }
    endWith(response, undefined);
    await ended;
    expect(bodyReceived()).toBe(`${[...pieces, ...pieces].map(asChunk).join('')}0\r\n\r\n`);
  });

  test('an empty piece does not end the response', async () => {
    await ask('GET');
    writePiece(response, Buffer.from('a'), true);
    await turn();
    writePiece(response, Buffer.alloc(0), false);
    writePiece(response, Buffer.from('b'), false);
    endWith(response, undefined);
    await ended;
    expect(bodyReceived()).toBe('1\r\na\r\n1\r\nb\r\n0\r\n\r\n');
  });

  test('a response to HEAD has no body', async () => {
    await ask('HEAD');
    writePiece(response, Buffer.from('a'), true);
    await turn();
    writePiece(response, Buffer.from('b'), false);
    endWith(response, undefined);
    await ended;
    expect(bodyReceived()).toBe('');
  });

  test('a client that does not read is noticed', async () => {
    await ask('GET');
    client.pause();
    const piece = Buffer.alloc(4 * 1024, 1);
    let isKeepingUp = writePiece(response, piece, true);
    for (let mebibytes = 0; isKeepingUp && mebibytes < 64; mebibytes++) {
      await turn();
      for (let count = 0; isKeepingUp && count < 256; count++) isKeepingUp = writePiece(response, piece, false);
    }
    expect(isKeepingUp).toBe(false);
  });

  test('nothing is written to a connection that is gone', async () => {
    await ask('GET');
    writePiece(response, Buffer.from('a'), true);
    await turn();
    const closed = new Promise((resolve) => response.once('close', resolve));
    response.on('error', () => {});
    client.destroy();
    await closed;
    expect(() => writePiece(response, Buffer.from('b'), false)).not.toThrow();
  });
});

test('an event for a client that keeps up is one write to its socket', async () => {
  switchFastPaths(true);
  await ask('GET');
  writePiece(response, Buffer.from('data: 1\n\n'), true);
  await turn();
  const writes: unknown[] = [];
  const { socket } = response;
  if (!socket) throw new Error('The response has its socket until it ends.');
  const { write } = socket;
  socket.write = (...parameters: unknown[]) => {
    writes.push(parameters[0]);
    return Reflect.apply(write, socket, parameters) as boolean;
  };
  expect(writePiece(response, Buffer.from('data: 2\n\n'), false)).toBe(true);
  expect(writes).toEqual(['9\r\ndata: 2\n\n\r\n']);
  endWith(response, undefined);
  await ended;
});
