import type { Config, ConfigInput } from '../../server/contract/config.ts';
import { configSchema } from '../../server/contract/config.ts';
import { type CompileInput, compileSnapshot } from '../../server/routing/compile.ts';
import type { CompiledProvider, Snapshot } from '../../server/routing/snapshot.ts';

interface SnapshotOptions extends Partial<Omit<CompileInput, 'config' | 'secrets'>> {
  /** By secret name, such as `provider/main/c1`. */
  secrets?: Record<string, string>;
}

/** The snapshot of a configuration, without a gateway. */
export function snapshotOf(config: Omit<ConfigInput, 'version'>, options: SnapshotOptions = {}): Snapshot {
  return compiledFrom(configSchema.parse({ version: 1, ...config }), options);
}

/** The snapshot of a configuration that the schema has parsed. */
export function compiledFrom(config: Config, options: SnapshotOptions = {}): Snapshot {
  return compileSnapshot({
    discovered: new Map(),
    demo: null,
    ownAddresses: new Set(),
    ...options,
    config,
    secrets: new Map(Object.entries(options.secrets ?? {})),
  });
}

type ProviderInput = NonNullable<ConfigInput['providers']>[number];

/** A provider in the form that requests use. If `credential` is given, it is sent with each call. */
export function compiledProvider(
  provider: Partial<ProviderInput> & { baseUrl: string },
  credential?: string,
): CompiledProvider {
  const id = provider.id ?? 'main';
  const credentials = credential === undefined ? [] : [{ id: 'c1' }];
  const snapshot = snapshotOf(
    { providers: [{ id, credentials, ...provider }] },
    { secrets: { [`provider/${id}/c1`]: credential ?? '' } },
  );
  const compiled = snapshot.providers.get(id);
  if (!compiled) throw new Error('unreachable');
  return compiled;
}
