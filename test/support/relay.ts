/** A relay on loopback in front of a server. It can slow down or cut the connections. */
import net, { type AddressInfo, type NetConnectOpts, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

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
