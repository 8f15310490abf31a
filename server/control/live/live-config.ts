/**
 * Follows the stored configuration: reads secrets, starts and stops the demo, and compiles the snapshot that requests
 * use.
 */
import type { Logger } from 'pino';
import type { ConfigRevision, ConfigStore } from '../../config/config-store.ts';
import { type Config, demoProviderId, type ProviderConfig, providerSchema } from '../../contract/config.ts';
import { GatewayError } from '../../contract/errors.ts';
import { unusableEntries } from '../../contract/settings-table.ts';
import type { NetworkView } from '../../contract/status-views.ts';
import { FollowedFiles } from '../../ground/files/follow-file.ts';
import { createSerialQueue } from '../../ground/promises.ts';
import { after } from '../../ground/timers.ts';
import type { ModelInfo } from '../../providers/upstream.ts';
import { compileSnapshot } from '../../routing/compile.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import {
  credentialSecretName,
  keySecretName,
  resolveSecret,
  type SecretStore,
  secretFileOf,
} from '../../secrets/secret-store.ts';

interface LiveConfigPorts {
  config: ConfigStore;
  openSecrets: () => Promise<SecretStore>;
  env: Readonly<Record<string, string | undefined>>;
  ownAddresses: ReadonlySet<string>;
  /** By provider id. */
  discovered(): ReadonlyMap<string, ReadonlyMap<string, ModelInfo>>;
  /** As browsers see it: `https://gateway.example`; absent without a public address. */
  publicOrigin?: string | undefined;
  log: Logger;
  /** Receives messages about missing secrets and other problems at start, one line each. */
  notice?: ((line: string) => void) | undefined;
}

export interface LiveConfig {
  /** The configuration that `snapshot` was compiled from; may lag briefly behind the stored one. */
  readonly used: ConfigRevision;
  readonly snapshot: Snapshot;
  /** The demo provider while it runs. */
  readonly demo: ProviderConfig | null;
  hasSecret(name: string): boolean;
  /** Whether a credential of the configuration has this value. */
  isSecretInUse(value: string): boolean;
  /** Compiles the same configuration again, after another input has changed. */
  recompile(): void;
  /** Reads all secrets again, as happens whenever a file with one changes. Resolves once they are in force. */
  readSecrets(): Promise<void>;
  /** Resolves once new requests use the latest configuration. */
  inForce(): Promise<void>;
  /** Calls the listener whenever a new configuration is in force. Returns the unsubscribe function. */
  onChange(listener: (change: ConfigInForce) => void): () => void;
  stop(): Promise<void>;
}

export interface ConfigInForce {
  before: Config;
  after: Config;
}

export async function createLiveConfig(ports: LiveConfigPorts): Promise<LiveConfig> {
  const parts = await loadParts(ports, null);
  const loaded = new LoadedConfig(ports, parts);
  for (const line of [...describeMissing(parts.missing), ...loaded.notices]) ports.notice?.(line);
  return loaded;
}

/** The inputs of a snapshot that are loaded asynchronously. */
interface Parts {
  used: ConfigRevision;
  secrets: ReadonlyMap<string, string>;
  /** Secrets that the configuration refers to but that do not exist. */
  missing: readonly MissingSecret[];
  demo: RunningDemo | null;
}

/** Keeps a running demo if it is still wanted; otherwise the caller has to stop it. */
async function loadParts({ config, openSecrets, env, log }: LiveConfigPorts, before: Parts | null): Promise<Parts> {
  const used = config.current;
  const demo = before?.demo ?? null;
  const missing: MissingSecret[] = [];
  const noteMissing = (noted: MissingSecret) => {
    missing.push(noted);
    const isKnown = before?.missing.some(({ name, reason }) => name === noted.name && reason === noted.reason);
    if (isKnown) return;
    log.warn({ name: noted.name, reason: noted.reason }, 'a secret is missing');
  };
  const secrets = await readSecretValues(used.config, { openSecrets, env, missing: noteMissing });
  return { used, secrets, missing, demo: wantsDemo(used.config) ? (demo ?? (await startDemo())) : null };
}

class LoadedConfig implements LiveConfig {
  readonly #ports: LiveConfigPorts;
  readonly #inTurn = createSerialQueue();
  readonly #listeners = new Set<(change: ConfigInForce) => void>();
  readonly #stopListening: () => void;
  readonly #secretFiles = new FollowedFiles(() => this.#follow());
  /** Demos that finish their running requests before they end. */
  readonly #endingDemos = new Set<RunningDemo>();
  #parts: Parts;
  #snapshot: Snapshot;
  #latest: Promise<void> = Promise.resolve();
  #readingAgain: NodeJS.Timeout | undefined;

  constructor(ports: LiveConfigPorts, parts: Parts) {
    this.#ports = ports;
    this.#parts = parts;
    this.#snapshot = this.#compile();
    this.#logNotices();
    this.#stopListening = ports.config.onChange(() => this.#follow());
    this.#readAgainIfUnread();
    this.#secretFiles.follow(secretFilesOf(parts.used.config));
  }

  get used(): ConfigRevision {
    return this.#parts.used;
  }

  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  get demo(): ProviderConfig | null {
    return this.#parts.demo?.provider ?? null;
  }

  /** What in the configuration has no effect, one line each. */
  get notices(): string[] {
    const unusable = unusableEntries(this.#parts.used.config.settings);
    return [...this.#snapshot.notices, ...unusable.map((problem) => `settings.${problem}. It has no effect.`)];
  }

  hasSecret(name: string): boolean {
    return this.#parts.secrets.has(name) || (this.#parts.demo?.secrets.has(name) ?? false);
  }

  isSecretInUse(value: string): boolean {
    return [...this.#parts.secrets.values()].includes(value);
  }

  recompile(): void {
    this.#snapshot = this.#compile(this.#snapshot);
  }

  readSecrets(): Promise<void> {
    this.#follow();
    return this.#latest;
  }

  inForce(): Promise<void> {
    return this.#latest;
  }

  onChange(listener: (change: ConfigInForce) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async stop(): Promise<void> {
    this.#stopListening();
    this.#secretFiles.close();
    clearTimeout(this.#readingAgain);
    await this.#latest.catch(() => {});
    await Promise.all([...this.#endingDemos, this.#parts.demo].map((demo) => demo?.stop()));
  }

  #follow(): void {
    this.#latest = this.#inTurn(() => this.#reload());
    this.#latest.catch((error: unknown) => this.#ports.log.error({ error }, 'the new configuration could not be used'));
  }

  #readAgainIfUnread(): void {
    clearTimeout(this.#readingAgain);
    const delays = this.#parts.missing.flatMap(({ readAgainAfterMs }) => readAgainAfterMs ?? []);
    if (delays.length === 0) return;
    this.#readingAgain = after(() => this.#follow(), Math.min(...delays)).unref();
  }

  async #reload(): Promise<void> {
    const { used, demo } = this.#parts;
    // Before they are read, so that no change is missed.
    this.#secretFiles.follow(secretFilesOf(this.#ports.config.current.config));
    this.#parts = await loadParts(this.#ports, this.#parts);
    this.recompile();
    this.#logNotices();
    this.#readAgainIfUnread();
    if (demo && demo !== this.#parts.demo) void this.#endDemo(demo);
    for (const listener of [...this.#listeners]) listener({ before: used.config, after: this.used.config });
  }

  async #endDemo(demo: RunningDemo): Promise<void> {
    this.#endingDemos.add(demo);
    await demo.end();
    this.#endingDemos.delete(demo);
  }

  #logNotices(): void {
    for (const notice of this.notices) this.#ports.log.warn(notice);
  }

  #compile(before?: Snapshot): Snapshot {
    const { used, secrets, demo } = this.#parts;
    return compileSnapshot({
      config: used.config,
      publicOrigin: this.#ports.publicOrigin,
      secrets: new Map([...secrets, ...(demo?.secrets ?? [])]),
      discovered: this.#ports.discovered(),
      demo: demo?.provider ?? null,
      ownAddresses: this.#ports.ownAddresses,
      before,
    });
  }
}

interface SecretValueSources {
  openSecrets: () => Promise<SecretStore>;
  env: Readonly<Record<string, string | undefined>>;
  /** Called for each reference without a value; reading continues. */
  missing(missing: MissingSecret): void;
}

interface MissingSecret {
  name: string;
  reason: string;
  /** The secret may exist, but its store cannot be reached now: when to try again. Null if there is none. */
  readAgainAfterMs: number | null;
}

/**
 * Reads all secrets that requests need in advance, so that no request waits for a keychain. Keys with a hash are not
 * read.
 */
async function readSecretValues(config: Config, sources: SecretValueSources): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  for (const { name, reference } of referencesOf(config)) {
    const value = await readOne(name, reference, sources);
    if (value !== undefined) values.set(name, value);
  }
  return values;
}

/** The files that hold these secrets and those of settings, which are read by whoever uses them. */
function secretFilesOf(config: Config): string[] {
  const { metricsToken, telemetry, webhooks } = config.settings;
  const ofSettings = [
    metricsToken ?? '',
    ...Object.values(telemetry.headers),
    ...webhooks.flatMap(({ url, secret = '' }) => [url, secret]),
  ];
  const references = [...referencesOf(config).map(({ reference }) => reference), ...ofSettings];
  return references.flatMap((reference) => secretFileOf(reference) ?? []);
}

interface Reference {
  /** The name in the secret store. */
  name: string;
  reference: string;
}

function referencesOf(config: Config): Reference[] {
  const references: Reference[] = [];
  for (const provider of config.providers) {
    for (const credential of provider.credentials) {
      references.push({ name: credentialSecretName(provider.id, credential.id), reference: credential.secret });
    }
  }
  for (const key of config.keys) {
    if (!key.hash && key.secret) references.push({ name: keySecretName(key.id), reference: key.secret });
  }
  return references;
}

async function readOne(name: string, reference: string, sources: SecretValueSources): Promise<string | undefined> {
  try {
    const store = reference === 'keychain' ? await sources.openSecrets() : noStore;
    const value = await resolveSecret(reference, { name, store, env: sources.env });
    if (value === undefined) sources.missing({ name, reason: `${reference} holds no value`, readAgainAfterMs: null });
    return value;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    sources.missing({ name, reason, readAgainAfterMs: readAgainAfterMs(error) });
    return undefined;
  }
}

const databaseAwayMs = 2_000;
/** Longer, since it may be away for weeks, as on a machine whose keychain has no library that loads. */
const keychainAwayMs = 30_000;

function readAgainAfterMs(error: unknown): number | null {
  if (!(error instanceof GatewayError) || error.code !== 'storage_unavailable') return null;
  return error.problem?.code === 'keychain-failed' ? keychainAwayMs : databaseAwayMs;
}

/** One line per reason, because one reason (such as a missing passphrase) often concerns all secrets. */
function describeMissing(missing: readonly MissingSecret[]): string[] {
  const reasons = new Set(missing.map(({ reason }) => reason));
  return [...reasons].map((reason) => {
    const names = missing.filter((each) => each.reason === reason).map(({ name }) => name);
    return `There is no secret for ${names.join(', ')}: ${reason.replace(/\.$/, '')}.`;
  });
}

const noStore = { get: async () => undefined };

/** The running demo upstream and its provider entry. */
interface RunningDemo {
  provider: ProviderConfig;
  /** By secret name. */
  secrets: ReadonlyMap<string, string>;
  /** Stops accepting requests; resolves once the running ones have ended. */
  end(): Promise<void>;
  /** Ends immediately. */
  stop(): Promise<void>;
}

/** `auto`: while no provider is configured. */
export function wantsDemo(config: Config): boolean {
  const { demo } = config.settings;
  return demo === 'on' || (demo === 'auto' && config.providers.length === 0);
}

/** Imported on demand, so that a gateway with real providers never loads it. */
async function startDemo(): Promise<RunningDemo> {
  const { demoModelIds, startDemoServer } = await import('../../demo/demo-server.ts');
  const server = await startDemoServer();
  const provider = providerSchema.parse({
    id: demoProviderId,
    name: 'Sluice demo (built in, invents its answers)',
    baseUrl: server.baseUrl,
    credentials: [{ id: 'built-in' }],
    models: demoModelIds,
    serves: ['chat'],
    proxy: 'direct',
  });
  return {
    provider,
    secrets: new Map([[credentialSecretName(demoProviderId, 'built-in'), server.secret]]),
    end: server.end,
    stop: server.stop,
  };
}

/** The machine on which Sluice runs. */
export interface ControlledMachine {
  log: Logger;
  env: Readonly<Record<string, string | undefined>>;
  ownAddresses: ReadonlySet<string>;
  openSecrets: () => Promise<SecretStore>;
  /** Null if nothing is stored on disk. */
  dataFolder: string | null;
  logFolder: string | null;
  /** One person's own machine: loopback only, no sign-in, no store that is shared. */
  isLaptop(): boolean;
  /** How each provider would be reached now. */
  network(snapshot: Snapshot): Promise<NetworkView>;
}
