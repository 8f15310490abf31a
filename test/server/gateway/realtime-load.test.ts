import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { mainProvider, startGateway } from '../../support/gateway.ts';
import { connectRealtime, startRealtimeUpstream } from '../../support/realtime-upstream.ts';

test('fifty sessions at the same time carry what they should, and leave nothing behind', async () => {
  const upstream = await startRealtimeUpstream();
  const gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] } });
  upstream.onSession(({ socket }) => {
    socket.on('message', (bytes, isBinary) => socket.send(bytes, { binary: isBinary }));
  });
  const clients = await Promise.all(Array.from({ length: 50 }, () => connectRealtime(gateway)));
  const audio = Buffer.alloc(64 * 1024, 'A');
  for (const { socket } of clients) for (let index = 0; index < 10; index++) socket.send(audio);
  await eventually(() => clients.every(({ messages }) => messages.length === 10));
  expect(clients.every(({ messages }) => messages.every(({ bytes }) => bytes.equals(audio)))).toBe(true);
  expect(await statusOf()).toBe(50);
  clients.forEach(({ socket }, index) => {
    if (index % 2 === 0) socket.close(1000);
    else socket.terminate();
  });
  await eventually(() => upstream.sessions.every(({ closed }) => closed !== null));
  await eventually(async () => (await statusOf()) === 0);
  const { requests } = await gateway.gateway.query({ type: 'requests', limit: 100 });
  expect(requests.map(({ outcome }) => outcome).sort()).toEqual([
    ...Array.from({ length: 25 }, () => 'client-gone'),
    ...Array.from({ length: 25 }, () => 'ok'),
  ]);
  await eventually(
    () => new Promise<boolean>((resolve) => upstream.server.getConnections((_e, n) => resolve(n === 0))),
  );
  await gateway.stop();
  await upstream.stop();

  async function statusOf(): Promise<number> {
    const { requests: rows } = await gateway.gateway.query({ type: 'requests', limit: 100 });
    return rows.filter(({ outcome }) => outcome === null).length;
  }
});
