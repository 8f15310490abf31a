import net, { type AddressInfo, type Server } from 'node:net';

/**
 * A loopback port on which nothing listens, and nothing can while the process runs, because it belongs to a connection
 * that stays open.
 */
export async function closedPort(): Promise<number> {
  const server = await listening((socket) => socket.unref().on('error', () => {}));
  const { port } = server.address() as AddressInfo;
  const held = net.connect(port, '127.0.0.1').on('error', () => {});
  await new Promise((resolve) => held.once('connect', resolve));
  held.unref();
  server.unref();
  return held.localPort ?? 0;
}

/** A loopback port that was free just now, to listen on. */
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

/** A host name without an address. Its label is too long for DNS, so no name server can delay the answer. */
export const unknownHost = `${'no-such-host'.repeat(6)}.invalid`;
