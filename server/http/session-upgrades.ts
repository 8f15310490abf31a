/** Accepts WebSocket sessions, alongside the listener for HTTP requests. */
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Session } from '../exchange/realtime/session.ts';
import { shuttingDown, type WebSocketUpgrades } from './server.ts';
import type { SessionCallPorts } from './session-call.ts';
import { opensSession, UpgradedConnection } from './web-socket-request.ts';

/** `onConfigChange` calls its listener whenever a new configuration is in force. */
export function createSessionUpgrades(
  ports: SessionCallPorts,
  onConfigChange: (listener: () => void) => void,
): WebSocketUpgrades {
  const running = new Map<Session, Promise<void>>();
  onConfigChange(() => {
    for (const call of running.keys()) call.checkNow();
  });
  let isClosed = false;

  const open = async (request: IncomingMessage, connection: UpgradedConnection) => {
    // Loaded on demand, because most installations never open a session.
    const { openSession } = await import('./session-call.ts');
    const call = openSession(ports, request, connection);
    const ended = call.run().finally(() => running.delete(call));
    running.set(call, ended);
    if (isClosed) call.cutOff(shuttingDown());
    await ended;
  };

  return {
    wants: (request) => opensSession(request, ports.registry),
    open(request: IncomingMessage, socket: Duplex, head: Buffer) {
      if (socket instanceof Socket)
        open(request, new UpgradedConnection(request, socket, head)).catch(ports.reportError);
      else socket.destroy();
    },
    async close() {
      isClosed = true;
      for (const call of running.keys()) call.cutOff(shuttingDown());
      await Promise.all(running.values());
    },
  };
}
