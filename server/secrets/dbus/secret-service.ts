/**
 * Linux's Secret Service (gnome-keyring, KWallet, KeePassXC), asked for items by any attributes, since each library of
 * the keychain finds its own only. It reads and deletes, and never asks the user to unlock anything. Secrets are not
 * encrypted on the way, which is a socket of this user
 * (https://specifications.freedesktop.org/secret-service-spec/latest/).
 */
import { createConnection, type Socket } from 'node:net';
import { after } from '../../ground/timers.ts';

/** Of the user's session; undefined for the usual one. */
export type BusAddress = string | undefined;
type Attributes = Readonly<Record<string, string>>;

const service = 'org.freedesktop.secrets';
const servicePath = '/org/freedesktop/secrets';
const callLimitMs = 5_000;

/** The secret with these attributes; undefined if there is none. Rejects if it is locked, or no text. */
export function readItem(address: BusAddress, attributes: Attributes): Promise<string | undefined> {
  return withSessionBus(address, callLimitMs, async (bus) => {
    const { unlocked, locked } = await search(bus, attributes);
    const item = unlocked[0];
    if (item === undefined && locked.length > 0) throw isLocked();
    if (item === undefined) return undefined;
    const session = await openSession(bus);
    const reply = await bus.call(callItem(item, 'GetSecret', 'o', new DbusWriter().string(session)));
    // The session and the parameters of its encryption, of which there is none.
    reply.align(8).string();
    reply.byteArray();
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(reply.byteArray());
  });
}

/** All attributes of each item that has these, whether it is locked or not. */
export function findItems(address: BusAddress, attributes: Attributes): Promise<Attributes[]> {
  return withSessionBus(address, callLimitMs, async (bus) => {
    const { unlocked, locked } = await search(bus, attributes);
    const found: Attributes[] = [];
    for (const item of [...unlocked, ...locked]) {
      const property = await bus.call(getProperty(item, 'org.freedesktop.Secret.Item', 'Attributes'));
      property.signature();
      found.push(Object.fromEntries(property.array(8, () => [property.align(8).string(), property.string()])));
    }
    return found;
  });
}

/** Does nothing if there is none. Rejects if it is locked. */
export function deleteItem(address: BusAddress, attributes: Attributes): Promise<void> {
  return withSessionBus(address, callLimitMs, async (bus) => {
    const { unlocked, locked } = await search(bus, attributes);
    if (locked.length > 0) throw isLocked();
    for (const item of unlocked) await bus.call(callItem(item, 'Delete'));
  });
}

/** Whether the default keyring is locked, so that using it would ask the user. */
export function isDefaultKeyringLocked(address: BusAddress): Promise<boolean> {
  return withSessionBus(address, callLimitMs, async (bus) => {
    const alias = await bus.call(callService('ReadAlias', 's', new DbusWriter().string('default')));
    const keyring = alias.string();
    // There is no default keyring yet.
    if (keyring === '/') return false;
    const property = await bus.call(getProperty(keyring, 'org.freedesktop.Secret.Collection', 'Locked'));
    property.signature();
    return property.boolean();
  });
}

const isLocked = () => new Error('the keyring that holds it is locked');

async function search(bus: DbusConnection, attributes: Attributes) {
  const values = new DbusWriter();
  values.array(Object.entries(attributes), 8, ([name, value]) => values.align(8).string(name).string(value));
  const reply = await bus.call(callService('SearchItems', 'a{ss}', values));
  const paths = () => reply.array(4, () => reply.string());
  return { unlocked: paths(), locked: paths() };
}

async function openSession(bus: DbusConnection): Promise<string> {
  const values = new DbusWriter().string('plain').signature('s').string('');
  const reply = await bus.call(callService('OpenSession', 'sv', values));
  // What the encryption answers: an empty text.
  reply.signature();
  reply.string();
  return reply.string();
}

function callService(method: string, signature: string, values: DbusWriter): MethodCall {
  const called = { destination: service, path: servicePath, interface: 'org.freedesktop.Secret.Service', method };
  return { ...called, parameters: { signature, values } };
}

function callItem(path: string, method: string, signature = '', values = new DbusWriter()): MethodCall {
  const called = { destination: service, path, interface: 'org.freedesktop.Secret.Item', method };
  return signature === '' ? called : { ...called, parameters: { signature, values } };
}

function getProperty(path: string, ofInterface: string, name: string): MethodCall {
  const called = { destination: service, path, interface: 'org.freedesktop.DBus.Properties', method: 'Get' };
  const values = new DbusWriter().string(ofInterface).string(name);
  return { ...called, parameters: { signature: 'ss', values } };
}

// A connection to the session bus, and the messages that are sent over it.

interface DbusConnection {
  /** Rejects if the service answers with an error, or after the connection's time. */
  call(call: MethodCall): Promise<DbusReader>;
}

/**
 * Connects to the bus of the user's session for the time of `use`, `limitMs` at most.
 *
 * @param address as in `DBUS_SESSION_BUS_ADDRESS`; default: where systemd puts it
 */
async function withSessionBus<Result>(
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

// D-Bus's wire format, of which only what the Secret Service needs: method calls and their replies, in the byte
// order of little-endian machines
// (https://dbus.freedesktop.org/doc/dbus-specification.html#message-protocol-marshaling).

/** Writes values in sequence, each aligned to its type. */
class DbusWriter {
  readonly #bytes: number[] = [];

  align(boundary: number): this {
    while (this.#bytes.length % boundary !== 0) this.#bytes.push(0);
    return this;
  }
  byte(value: number): this {
    this.#bytes.push(value);
    return this;
  }
  uint32(value: number): this {
    this.align(4);
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    this.#bytes.push(...bytes);
    return this;
  }
  /** An object path is written in the same way. */
  string(text: string): this {
    const bytes = Buffer.from(text, 'utf8');
    this.uint32(bytes.length);
    this.#bytes.push(...bytes, 0);
    return this;
  }
  signature(text: string): this {
    this.#bytes.push(text.length, ...Buffer.from(text, 'latin1'), 0);
    return this;
  }
  /** `boundary`: the alignment of an item, which the length of the array does not count. */
  array<Item>(items: Iterable<Item>, boundary: number, writeItem: (item: Item) => void): this {
    this.uint32(0);
    const lengthAt = this.#bytes.length - 4;
    this.align(boundary);
    const startsAt = this.#bytes.length;
    for (const item of items) writeItem(item);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(this.#bytes.length - startsAt);
    this.#bytes.splice(lengthAt, 4, ...length);
    return this;
  }
  bytes(): Buffer {
    return Buffer.from(this.#bytes);
  }
}

/** Reads values in sequence. Throws a RangeError past the end. */
class DbusReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  align(boundary: number): this {
    this.#at = Math.ceil(this.#at / boundary) * boundary;
    return this;
  }
  byte(): number {
    this.#at += 1;
    return this.#bytes.readUInt8(this.#at - 1);
  }
  uint32(): number {
    this.align(4);
    this.#at += 4;
    return this.#bytes.readUInt32LE(this.#at - 4);
  }
  boolean(): boolean {
    return this.uint32() === 1;
  }
  string(): string {
    const text = this.#take(this.uint32()).toString('utf8');
    this.#at += 1;
    return text;
  }
  signature(): string {
    const text = this.#take(this.byte()).toString('latin1');
    this.#at += 1;
    return text;
  }
  byteArray(): Buffer {
    return this.#take(this.uint32());
  }
  array<Item>(boundary: number, readItem: () => Item): Item[] {
    const length = this.uint32();
    this.align(boundary);
    const end = this.#at + length;
    const items: Item[] = [];
    while (this.#at < end) items.push(readItem());
    return items;
  }

  #take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RangeError('a D-Bus message ends too early');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

interface MethodCall {
  destination: string;
  path: string;
  interface: string;
  method: string;
  /** Absent if it has none. `signature`: their types. */
  parameters?: { signature: string; values: DbusWriter };
}

const messageTypes = { call: 1, reply: 2, error: 3 };
const fields = { path: 1, interface: 2, method: 3, errorName: 4, replySerial: 5, destination: 6, signature: 8 };

function encodeCall(call: MethodCall, serial: number): Buffer {
  const body = call.parameters?.values.bytes() ?? Buffer.alloc(0);
  const header: [number, 'o' | 's' | 'g', string][] = [
    [fields.path, 'o', call.path],
    [fields.interface, 's', call.interface],
    [fields.method, 's', call.method],
    [fields.destination, 's', call.destination],
  ];
  if (call.parameters) header.push([fields.signature, 'g', call.parameters.signature]);
  const writer = new DbusWriter().byte('l'.charCodeAt(0)).byte(messageTypes.call).byte(0).byte(1);
  writer.uint32(body.length).uint32(serial);
  writer.array(header, 8, ([field, type, value]) => {
    writer.align(8).byte(field).signature(type);
    if (type === 'g') writer.signature(value);
    else writer.string(value);
  });
  return Buffer.concat([writer.align(8).bytes(), body]);
}

interface DbusReply {
  /** Of the call that it answers; null if the message is no reply, such as a signal. */
  replySerial: number | null;
  /** `org.freedesktop.DBus.Error.ServiceUnknown`; null if the call succeeded. */
  errorName: string | null;
  body: DbusReader;
}

const fixedBytes = 16;

/** The first message in `bytes` and its length; undefined if it is incomplete. */
function decodeReply(bytes: Buffer): { reply: DbusReply; length: number } | undefined {
  if (bytes.length < fixedBytes) return undefined;
  if (bytes[0] !== 'l'.charCodeAt(0)) throw new Error('the D-Bus service answers in an unknown byte order');
  const bodyBytes = bytes.readUInt32LE(4);
  const bodyAt = Math.ceil((fixedBytes + bytes.readUInt32LE(12)) / 8) * 8;
  if (bytes.length < bodyAt + bodyBytes) return undefined;
  const body = new DbusReader(bytes.subarray(bodyAt, bodyAt + bodyBytes));
  const reply: DbusReply = { replySerial: null, errorName: null, body };
  const reader = new DbusReader(bytes.subarray(0, bodyAt));
  for (let read = 0; read < 12; read++) reader.byte();
  const isReply = bytes[1] === messageTypes.reply || bytes[1] === messageTypes.error;
  reader.array(8, () => {
    const field = reader.align(8).byte();
    const type = reader.signature();
    const value = type === 'u' ? reader.uint32() : type === 'g' ? reader.signature() : reader.string();
    if (isReply && field === fields.replySerial) reply.replySerial = Number(value);
    if (field === fields.errorName) reply.errorName = String(value);
  });
  return { reply, length: bodyAt + bodyBytes };
}
