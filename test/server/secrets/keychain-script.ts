/** Runs inside a D-Bus session with an unlocked gnome-keyring: uses the keychain, and prints the results as JSON. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keychainMarkerName } from '../../../server/secrets/keychain.ts';
import { openSecretStore } from '../../../server/secrets/open-secret-store.ts';

const sessionBus = process.env.DBUS_SESSION_BUS_ADDRESS;
const first = await mkdtemp(join(tmpdir(), 'sluice-keychain-'));
const second = await mkdtemp(join(tmpdir(), 'sluice-keychain-'));
const startedAt = performance.now();
const { store, notices } = await openSecretStore({ dataDir: first, sessionBus });
const openMs = performance.now() - startedAt;
const other = await openSecretStore({ dataDir: second, sessionBus });
const isMarkedBefore = existsSync(join(first, keychainMarkerName));
await store.set('provider/main/c1', 'planted-secret ü\n2');
await store.set('key/k1', 'old');
await store.set('key/k1', 'new');
const reopened = await openSecretStore({ dataDir: first, sessionBus });
const seen = {
  kind: store.kind,
  notices,
  openMs,
  isMarkedBefore,
  isMarkedAfter: existsSync(join(first, keychainMarkerName)),
  value: await reopened.store.get('provider/main/c1'),
  replaced: await store.get('key/k1'),
  list: await store.list(),
  otherFolder: [await other.store.get('key/k1'), await other.store.list()],
  missing: (await store.get('key/none')) === undefined,
};
await store.delete('key/k1');
await store.delete('key/k1');
const listAfterDelete = await store.list();
await store.delete('provider/main/c1');
await Promise.all([rm(first, { recursive: true }), rm(second, { recursive: true })]);
process.stdout.write(JSON.stringify({ ...seen, listAfterDelete }));
