import { createConnection, type Socket } from 'node:net';
import { after } from '../../ground/timers.ts';
import { type DbusReader, type DbusReply, decodeReply, encodeCall, type MethodCall } from './dbus-message.ts';

export interface DbusConnection {
  /** Rejects if the service answers with an error, or after the connection's time. */
  call(call: MethodCall): Promise<DbusReader>;
}

/**
 * Connects to the bus of the user's session for the time of `use`, `limitMs` at most.
 *
 * @param address as in `DBUS_SESSION_BUS_ADDRESS`; default: where systemd puts it
 */
export async function withSessionBus<Result>(
  address: string | undefined,
  limitMs: number,
  use: (connection: DbusConnection) => Promise<Result>,
): Promise<Result> {
  const socket = createConnection({ path: sessionBusPath(address) });
  const timer = after(() => socket.destroy(new Error(`it did not answer within ${limitMs / 1000} s`)), limitMs);
  try {
    const connection = await introduce(socket);
    const bus = {
      destination: 'org.freedesktop.DBus',
      path: '/org/freedesktop/DBus',
      interface: 'org.freedesktop.DBus',
    };
    await connection.call({ ...bus, method: 'Hello' });
    return await use(connection);
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

/** The first address that is a socket of this machine: `unix:path=/run/user/1000/bus`, `unix:abstract=…,guid=…`. */
function sessionBusPath(address = `unix:path=/run/user/${process.getuid?.()}/bus`): string {
  for (const each of address.split(';')) {
    const [, kind, value = ''] = /^unix:(?:.*,)?(path|abstract)=([^,]*)/.exec(each) ?? [];
    if (kind !== undefined) return `${kind === 'abstract' ? '\0' : ''}${decodeURIComponent(value)}`;
  }
  throw new Error('the address of the D-Bus session is not a socket of this machine');
}

/** Authenticates as the user of this process, whom the bus knows by the socket. */
function introduce(socket: Socket): Promise<DbusConnection> {
  const { promise, resolve, reject } = Promise.withResolvers<DbusConnection>();
  const waiting = new Map<number, (reply: DbusReply) => void>();
  let received = Buffer.alloc(0);
  let connection: DbusConnection | undefined;
  const fail = Promise.withResolvers<never>();
  fail.promise.catch(reject);

  const welcome = () => {
    const end = received.indexOf('\r\n');
    if (end < 0) return;
    const line = received.subarray(0, end).toString('latin1');
    if (!line.startsWith('OK ')) return void socket.destroy(new Error('the D-Bus session refuses this user'));
    received = received.subarray(end + 2);
    socket.write('BEGIN\r\n');
    connection = connectionOver(socket, waiting, fail.promise);
    resolve(connection);
  };
  socket.on('data', (piece) => {
    received = Buffer.concat([received, piece]);
    try {
      if (!connection) welcome();
      for (let next = connection && decodeReply(received); next; next = decodeReply(received)) {
        received = received.subarray(next.length);
        waiting.get(next.reply.replySerial ?? 0)?.(next.reply);
      }
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  });
  socket.on('error', fail.reject);
  socket.on('close', () => fail.reject(new Error('the D-Bus session closed the connection')));
  socket.write(`\0AUTH EXTERNAL ${Buffer.from(String(process.getuid?.())).toString('hex')}\r\n`);
  return promise;
}

function connectionOver(
  socket: Socket,
  waiting: Map<number, (reply: DbusReply) => void>,
  failed: Promise<never>,
): DbusConnection {
  let lastSerial = 0;
  return {
    async call(call) {
      const serial = ++lastSerial;
      const answered = new Promise<DbusReply>((resolve) => waiting.set(serial, resolve));
      socket.write(encodeCall(call, serial));
      const { errorName, body } = await Promise.race([answered, failed]);
      waiting.delete(serial);
      if (errorName !== null) throw new Error(`${call.method} failed: ${errorName}`);
      return body;
    },
  };
}
