/** The secrets of all configured providers: one provider's answer, or a client's mistake, may contain another's. */
import { isCredentialName } from '../../apis/core/requests/client-credentials.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import { secretsOf } from './redact-credential.ts';

/**
 * Local servers accept any credential, so that people write words (`lm-studio`, `not-needed`), which names of models and
 * providers contain too. Real keys are longer.
 */
const minDistinctLength = 16;

interface ConfiguredSecrets {
  all: readonly string[];
  /** Those that no name contains by chance. */
  distinct: readonly string[];
}

const bySnapshot = new WeakMap<Snapshot, ConfiguredSecrets>();

/** Read once per snapshot. */
export function configuredSecrets(snapshot: Snapshot): ConfiguredSecrets {
  const cached = bySnapshot.get(snapshot);
  if (cached) return cached;
  const secrets = [...snapshot.providers.values()].flatMap(({ credentials, headers }) => [
    ...credentials.flatMap((credential) => secretsOf([], credential)),
    ...Object.entries(headers).flatMap(([name, value]) => (isCredentialName(name) ? [withoutScheme(value)] : [])),
  ]);
  const all = [...new Set(secrets)];
  const configured = { all, distinct: all.filter(({ length }) => length >= minDistinctLength) };
  bySnapshot.set(snapshot, configured);
  return configured;
}

function withoutScheme(value: string): string {
  return value.startsWith('Bearer ') ? value.slice('Bearer '.length) : value;
}
