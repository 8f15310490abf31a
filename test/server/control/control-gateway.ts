import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openConfigStore } from '../../../server/config/config-store.ts';
import { loadDeclarativeConfig } from '../../../server/config/declarative.ts';
import { createConfPersistence } from '../../../server/config/persistence.ts';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { GatewayError } from '../../../server/contract/errors.ts';
import type { ControlEvent, EventMessage } from '../../../server/contract/events.ts';
import type { Caller } from '../../../server/control/people/people.ts';
import type { Gateway } from '../../../server/engine/gateway.ts';
import type { SecretStore } from '../../../server/secrets/secret-store.ts';
import { hashOf, startGateway, type TestGateway, type TestPorts, testKey } from '../../support/gateway.ts';
import { createMemorySecretStore, putEmptyLedger } from '../../support/stand-ins.ts';

export interface ControlGateway extends TestGateway {
  secrets: SecretStore;
  adminToken: string;
  configText(): Promise<string>;
  /** Calls `/control/…` with the admin token, unless `init` overrides it. */
  control(path: string, init?: RequestInit): Promise<Response>;
}

export interface ControlGatewayOptions {
  config?: Partial<ConfigInput>;
  secrets?: Record<string, string>;
  /** The configuration is a file that Sluice does not write. */
  declarative?: boolean;
  ports?: TestPorts;
}

/**
 * A running gateway whose configuration is stored on disk, with the group `default` and the key `k1`, whose secret is
 * `testKey`.
 */
export async function startControlGateway(options: ControlGatewayOptions = {}): Promise<ControlGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-control-'));
  const path = join(folder, 'config.json');
  const config = {
    version: 1,
    groups: [{ id: 'default' }],
    keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
    ...options.config,
  };
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  putEmptyLedger(folder);
  const secrets = createMemorySecretStore(options.secrets);
  const store = options.declarative
    ? await loadDeclarativeConfig(path)
    : await openConfigStore({ persistence: createConfPersistence(path) });
  const started = await startGateway({
    folder,
    ports: { config: store, openSecrets: async () => secrets, ...options.ports },
  });
  const adminToken = (await readFile(join(folder, 'admin.token'), 'utf8')).trim();
  return {
    ...started,
    secrets,
    adminToken,
    configText: () => readFile(path, 'utf8'),
    control: (part, init = {}) =>
      fetch(`${started.origin}/control${part}`, {
        redirect: 'manual',
        ...init,
        headers: { authorization: `Bearer ${adminToken}`, ...Object.fromEntries(new Headers(init.headers)) },
      }),
    async stop() {
      await started.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The GatewayError with which a command or query is refused. */
export async function refusalOf(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof GatewayError)) throw new Error(`not refused with a GatewayError: ${String(error)}`);
  return error;
}

/** Collects all events of a gateway, and can wait for a certain event. */
export function gatherEvents(gateway: Pick<Gateway, 'onEvent'>, by?: Caller) {
  const messages: EventMessage[] = [];
  let onMessage: () => void = () => {};
  const stop = gateway.onEvent((message) => {
    messages.push(message);
    onMessage();
  }, by);
  return {
    messages,
    stop,
    /** The first event of this type that passes; waits for it if necessary. */
    async next<T extends ControlEvent['type']>(
      type: T,
      passes: (event: Extract<ControlEvent, { type: T }>) => boolean = () => true,
    ): Promise<Extract<ControlEvent, { type: T }>> {
      const isWanted = (event: ControlEvent): event is Extract<ControlEvent, { type: T }> => event.type === type;
      for (;;) {
        for (const { event } of messages) if (isWanted(event) && passes(event)) return event;
        await new Promise<void>((resolve) => {
          onMessage = resolve;
        });
      }
    },
  };
}
