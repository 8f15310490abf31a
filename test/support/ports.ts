/** A relay on loopback in front of a server. It can slow down or cut the connections. */
import net, { type AddressInfo, type NetConnectOpts, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

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

export interface Relay {
  readonly port: number;
  /** From now on, delays each piece by this time, in both directions. */
  slow(delayMs: number): void;
  /** Resets all connections, including new ones, until `mend`. */
  cut(): void;
  mend(): void;
  stop(): Promise<void>;
}

export async function startRelay(target: NetConnectOpts): Promise<Relay> {
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let isCut = false;
  const pass = async (from: Socket, to: Socket) => {
    try {
      for await (const piece of from) {
        if (delayMs > 0) await sleep(delayMs);
        to.write(piece);
      }
    } catch {
      // One connection was reset, so the other one is closed as well.
    }
    to.destroy();
  };
  const server = net.createServer((near) => {
    if (isCut) return near.on('error', () => {}).resetAndDestroy();
    const far = net.connect(target);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    void pass(near, far);
    void pass(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    slow(more) {
      delayMs = more;
    },
    cut() {
      isCut = true;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    mend() {
      isCut = false;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
