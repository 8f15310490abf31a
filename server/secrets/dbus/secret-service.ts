/**
 * Linux's Secret Service (gnome-keyring, KWallet, KeePassXC), asked for items by any attributes, since each library of the
 * keychain finds its own only. It reads and deletes, and never asks the user to unlock anything. Secrets are not encrypted
 * on the way, which is a socket of this user (https://specifications.freedesktop.org/secret-service-spec/latest/).
 */
import { type DbusConnection, DbusWriter, type MethodCall, withSessionBus } from './dbus-connection.ts';

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
