/**
 * Keeps what requests run on in step with the stored configuration: reads secrets, starts and stops the demo, compiles.
 * Owns that the newest one wins; must not know who changed it or how.
 */
import type { Logger } from 'pino';
import type { ConfigRevision, ConfigStore } from '../config/config-store.ts';
import type { Config, ProviderConfig } from '../contract/config.ts';
import { compileSnapshot } from '../routing/compile.ts';
import type { ModelInfo, Snapshot } from '../routing/snapshot.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import { createSerialQueue } from '../serial-queue.ts';
import { type RunningDemo, startDemo, wantsDemo } from './demo-provider.ts';
import { readSecretValues } from './secret-values.ts';

export interface LiveConfigPorts {
  config: ConfigStore;
  openSecrets: () => Promise<SecretStore>;
  env: Readonly<Record<string, string | undefined>>;
  ownAddresses: ReadonlySet<string>;
  /** By provider id. */
  discovered(): ReadonlyMap<string, ReadonlyMap<string, ModelInfo>>;
  log: Logger;
}

export interface LiveConfig {
  /** What `snapshot` was made of; a little behind what is stored. */
  readonly used: ConfigRevision;
  readonly snapshot: Snapshot;
  /** The demo provider while it runs. */
  readonly demo: ProviderConfig | null;
  secret(name: string): string | undefined;
  /** Again with the same configuration, since something else it is made of has changed. */
  recompile(): void;
  /** Resolves once the newest configuration is what new requests run on. */
  inForce(): Promise<void>;
  /** Calls back after each new configuration is in force; returns how to stop that. */
  onChange(listener: (change: ConfigInForce) => void): () => void;
  stop(): Promise<void>;
}

export interface ConfigInForce {
  before: Config;
  after: Config;
}

export async function createLiveConfig(ports: LiveConfigPorts): Promise<LiveConfig> {
  const { config, log } = ports;
  const inTurn = createSerialQueue();
  const listeners = new Set<(change: ConfigInForce) => void>();
  let secrets: ReadonlyMap<string, string> = new Map();
  let demo: RunningDemo | null = null;
  let used: ConfigRevision = config.current;
  let snapshot: Snapshot;

  function compile(): void {
    snapshot = compileSnapshot({
      ...used,
      secrets: new Map([...secrets, ...(demo?.secrets ?? [])]),
      discovered: ports.discovered(),
      demo: demo?.provider ?? null,
      ownAddresses: ports.ownAddresses,
    });
  }

  async function load(): Promise<void> {
    const loaded = config.current;
    const { config: current } = loaded;
    const missing = (name: string, reason: string) => log.warn({ name, reason }, 'a secret is missing');
    secrets = await readSecretValues(current, { openSecrets: ports.openSecrets, env: ports.env, missing });
    const unwanted = wantsDemo(current) ? null : demo;
    if (unwanted) demo = null;
    else if (wantsDemo(current)) demo ??= await startDemo();
    used = loaded;
    compile();
    await unwanted?.stop();
  }

  async function reload(): Promise<void> {
    const before = used.config;
    await load();
    for (const listener of [...listeners]) listener({ before, after: used.config });
  }

  await load();
  let latest = Promise.resolve();
  const stopListening = config.onChange(() => {
    latest = inTurn(reload);
    latest.catch((error: unknown) => log.error({ error }, 'the new configuration could not be used'));
  });

  return {
    get used() {
      return used;
    },
    get snapshot() {
      return snapshot;
    },
    get demo() {
      return demo?.provider ?? null;
    },
    secret: (name) => secrets.get(name) ?? demo?.secrets.get(name),
    recompile: compile,
    inForce: () => latest,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async stop() {
      stopListening();
      await latest.catch(() => {});
      await demo?.stop();
    },
  };
}
