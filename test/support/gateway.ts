import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import pino from 'pino';
import { openConfigStore } from '../../server/config/config-store.ts';
import type { ConfigPersistence } from '../../server/config/persistence.ts';
import type { ConfigInput } from '../../server/contract/config.ts';
import type { RequestView } from '../../server/contract/request-views.ts';
import { createGateway, type Gateway } from '../../server/engine/gateway.ts';
import type {
  GatewayFolders,
  GatewayLogging,
  GatewayPorts,
  ReplicaPorts,
  TeamPorts,
} from '../../server/engine/ports.ts';
import { optionalParts } from '../../server/optional-parts.ts';
import { type Database, openSqliteDatabase } from '../../server/store/sqlite/database.ts';
import { createLedgerQueries } from '../../server/store/sqlite/queries.ts';
import { eventually } from './eventually.ts';
import { createMemorySecretStore, putEmptyLedger } from './stand-ins.ts';

export const testKey = 'sk-test key with spaces';

export function hashOf(secret: string): string {
  return `sha256:${createHash('sha256').update(secret).digest('hex')}`;
}

export interface TestGateway {
  gateway: Gateway;
  origin: string;
  baseUrl: string;
  folder: string;
  /** The official client, without retries. */
  client: OpenAI;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /**
   * The ledger's row of a finished request, once it is written. Defaults to the newest row, which may still be that of
   * an earlier request.
   */
  record(requestId?: string): Promise<RequestView>;
  stop(): Promise<void>;
}

/** What a test may replace, without the groups in which the engine is given it. */
export type TestPorts = Partial<
  Omit<GatewayPorts, 'folders' | 'logging' | 'replicas' | 'teams'> &
    GatewayFolders &
    GatewayLogging &
    ReplicaPorts &
    TeamPorts
>;

export interface TestGatewayOptions {
  config?: Partial<ConfigInput>;
  /** By name, as in the secret store. */
  secrets?: Record<string, string>;
  ports?: TestPorts;
  /** Kept across restarts. If absent, a temporary folder is used and removed at the end. */
  folder?: string;
}

/** One provider `main` at `baseUrl` with a credential; it serves any model. */
export function mainProvider(baseUrl: string, more: Record<string, unknown> = {}) {
  return { id: 'main', baseUrl, credentials: [{ id: 'c1' }], models: ['gpt-x', '*'], ...more };
}

/** Starts a gateway with the group `default` and the key `testKey` on a free port. */
export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'sluice-test-'));
  if (!options.folder) putEmptyLedger(folder);
  const config: ConfigInput = {
    version: 1,
    groups: [{ id: 'default' }],
    keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
    ...options.config,
  };
  const secrets = createMemorySecretStore({ 'provider/main/c1': 'upstream-secret', ...options.secrets });
  const ports = options.ports ?? {};
  const gateway = await createGateway({
    folders: { dataDir: folder, uploadFolder: folder, windowFolder: null, ...ports },
    config: await openConfigStore({ persistence: memoryPersistence(config, options.folder) }),
    openSecrets: async () => secrets,
    env: {},
    proxies: {},
    logging: { log: pino({ level: 'silent' }), logRequest: () => {}, ...ports },
    replicas: ports,
    teams: { loadTeam: optionalParts.team, ...ports },
    listen: { host: '127.0.0.1', port: 0 },
    ...ports,
  });
  const database = openSqliteDatabase(join(folder, 'ledger.sqlite'));
  const ledger = createLedgerQueries(database);
  const { port } = await gateway.start();
  const origin = `http://127.0.0.1:${port}`;
  const baseUrl = `${origin}/v1`;
  return {
    gateway,
    origin,
    baseUrl,
    folder,
    client: new OpenAI({ baseURL: baseUrl, apiKey: testKey, maxRetries: 0 }),
    fetch: (path, init = {}) =>
      fetch(baseUrl + path, {
        ...init,
        headers: { authorization: `Bearer ${testKey}`, ...Object.fromEntries(new Headers(init.headers)) },
      }),
    record: (requestId) =>
      afterWrites(database, async () => {
        const row = requestId
          ? await ledger.getRequest(requestId)
          : (await ledger.listRequests({ limit: 1 })).requests[0];
        return row?.outcome ? row : null;
      }),
    async stop() {
      await gateway.stop(1_000);
      database.close();
      if (!options.folder) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Like `eventually`, but looks only when another connection has written to the database, or in case it was replaced: of
 * some twenty looks before a row is written, each takes far longer than to ask whether any was written.
 */
function afterWrites<T>(database: Database, look: () => Promise<T | null>): Promise<T> {
  const version = database.prepare('PRAGMA data_version');
  let seen: unknown;
  let asked = 0;
  return eventually(async () => {
    const now = version.get()?.data_version;
    if (now === seen && asked++ % 20 !== 0) return null;
    seen = now;
    return look();
  });
}

/** Holds the configuration in memory. The backup that a change writes is in `folder`. */
export function memoryPersistence(
  initial: object,
  folder = join(tmpdir(), 'sluice-test-no-such-folder'),
): ConfigPersistence {
  let value: unknown = structuredClone(initial);
  return {
    path: join(folder, 'config.json'),
    read: () => value,
    write: async (next) => {
      value = structuredClone(next);
    },
  };
}

/** Between tests that share a gateway: its provider is asked again at once, whatever it refused before. */
export async function forgetFailures({ gateway }: TestGateway, provider = 'main'): Promise<void> {
  await gateway.execute({ type: 'provider.reset-health', id: provider });
}
