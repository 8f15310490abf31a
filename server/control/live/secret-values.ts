import type { Config } from '../../contract/config.ts';
import { GatewayError } from '../../contract/errors.ts';
import { resolveSecret, secretFileOf } from '../../secrets/resolve-secret.ts';
import { credentialSecretName, keySecretName, type SecretStore } from '../../secrets/secret-store.ts';

interface SecretValueSources {
  openSecrets: () => Promise<SecretStore>;
  env: Readonly<Record<string, string | undefined>>;
  /** Called for each reference without a value; reading continues. */
  missing(missing: MissingSecret): void;
}

export interface MissingSecret {
  name: string;
  reason: string;
  /** The secret may exist, but its store cannot be reached now: when to try again. Null if there is none. */
  readAgainAfterMs: number | null;
}

/**
 * Reads all secrets that requests need in advance, so that no request waits for a keychain. Keys with a hash are not
 * read.
 */
export async function readSecretValues(config: Config, sources: SecretValueSources): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  for (const { name, reference } of referencesOf(config)) {
    const value = await readOne(name, reference, sources);
    if (value !== undefined) values.set(name, value);
  }
  return values;
}

/** The files that hold these secrets and those of settings, which are read by whoever uses them. */
export function secretFilesOf(config: Config): string[] {
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
export function describeMissing(missing: readonly MissingSecret[]): string[] {
  const reasons = new Set(missing.map(({ reason }) => reason));
  return [...reasons].map((reason) => {
    const names = missing.filter((each) => each.reason === reason).map(({ name }) => name);
    return `There is no secret for ${names.join(', ')}: ${reason.replace(/\.$/, '')}.`;
  });
}

const noStore = { get: async () => undefined };
