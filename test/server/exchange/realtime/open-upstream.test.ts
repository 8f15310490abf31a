import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { openUpstream } from '../../../../server/exchange/realtime/connect-upstream.ts';

test('a handshake that cannot even begin leaves no connection behind', async () => {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connection = net.connect(port, '127.0.0.1');
  await once(connection, 'connect');
  const headers = { 'x-name': 'a\nb' };
  const handshake = { origin: `http://127.0.0.1:${port}`, path: '/v1/realtime', headers, answerMs: 10_000 };
  await expect(openUpstream(connection, handshake)).rejects.toMatchObject({ phase: 'headers' });
  expect(connection.destroyed).toBe(true);
  server.close();
});
