import net, { type AddressInfo, type Server } from 'node:net';

/** A port on loopback where nobody listens, nor can while the process runs: it is one end of a connection that stays open. */
export async function closedPort(): Promise<number> {
  const server = await listening((socket) => socket.unref().on('error', () => {}));
  const { port } = server.address() as AddressInfo;
  const held = net.connect(port, '127.0.0.1').on('error', () => {});
  await new Promise((resolve) => held.once('connect', resolve));
  held.unref();
  server.unref();
  return held.localPort ?? 0;
}

/** A port on loopback that was free a moment ago, to listen on. */
export async function freePort(): Promise<number> {
  const server = await listening();
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function listening(onConnection?: (socket: net.Socket) => void): Promise<Server> {
  const server = net.createServer(onConnection);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** A host without an address: its label is too long to be asked for, so no name server can delay the answer. */
export const unknownHost = `${'no-such-host'.repeat(6)}.invalid`;
