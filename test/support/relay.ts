/** A relay on loopback in front of a server, which can make the way to it slow. */
import net, { type AddressInfo, type NetConnectOpts, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Relay {
  readonly port: number;
  /** From now on each piece takes so much longer, in both directions. */
  slow(delayMs: number): void;
  stop(): Promise<void>;
}

export async function startRelay(target: NetConnectOpts): Promise<Relay> {
  const sockets = new Set<Socket>();
  let delayMs = 0;
  const pass = async (from: Socket, to: Socket) => {
    try {
      for await (const piece of from) {
        if (delayMs > 0) await sleep(delayMs);
        to.write(piece);
      }
    } catch {
      // It was reset, and so is the other one.
    }
    to.destroy();
  };
  const server = net.createServer((near) => {
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
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
