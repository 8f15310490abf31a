import net, { type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { joinShortWrites } from '../../../server/transport/joined-writes.ts';

const server = net.createServer();
let socket: Socket;
let received: Promise<Buffer>;

beforeEach(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  received = new Promise((resolve) => {
    server.once('connection', (peer) => {
      const bytes: Buffer[] = [];
      peer.on('data', (chunk) => bytes.push(chunk)).on('end', () => resolve(Buffer.concat(bytes)));
    });
  });
  socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  joinShortWrites(socket);
});
afterEach(() => {
  socket.destroy();
  server.close();
});

/** What the socket is given to write while these are written together. */
function writtenAtOnce(pieces: readonly (readonly [string | Buffer, BufferEncoding?])[]): unknown[] {
  const written: unknown[] = [];
  const write = socket._write;
  socket._write = (chunk, encoding, callback) => {
    written.push(chunk);
    write.call(socket, chunk, encoding, callback);
  };
  socket.cork();
  for (const [chunk, encoding] of pieces) socket.write(chunk, encoding);
  socket.uncork();
  return written;
}

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

test('a short head and body are one write, with the same bytes', async () => {
  const head = 'POST / HTTP/1.1\r\nx-name: \xe9\r\n\r\n';
  expect(writtenAtOnce([[head, 'latin1'], [everyByte]])).toEqual([head + everyByte.toString('latin1')]);
  socket.end();
  expect(await received).toEqual(Buffer.concat([Buffer.from(head, 'latin1'), everyByte]));
});

test.each<[string, [string | Buffer, BufferEncoding?][]]>([
  ['a long body', [['head', 'latin1'], [Buffer.alloc(16 * 1024, 200)]]],
  [
    'text in UTF-8',
    [
      ['head', 'latin1'],
      ['€', 'utf8'],
    ],
  ],
])('%s is left to Node', async (_case, pieces) => {
  expect(writtenAtOnce(pieces)).toEqual([]);
  socket.end();
  expect(await received).toEqual(
    Buffer.concat(pieces.map(([chunk, encoding]) => Buffer.from(chunk as string, encoding))),
  );
});
