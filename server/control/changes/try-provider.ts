import { cleanBaseUrl } from '../../contract/address.ts';
import type { CommandMap } from '../../contract/commands.ts';
import type { ProviderConfig } from '../../contract/config.ts';
import type { ProviderTrial } from '../../contract/provider-commands.ts';
import type { FoundApi } from '../../providers/find-api.ts';
import { compileProvider } from '../../routing/compile.ts';
import type { CompiledProvider } from '../../routing/snapshot.ts';
import { credentialSecretName, resolveSecret } from '../../secrets/secret-store.ts';
import type { ProviderKnowledge } from '../live/provider-knowledge.ts';
import type { Change, ChangeContext } from './change.ts';

type Addition = CommandMap['provider.add'];
type Fields = Addition['provider'];

interface TryPorts {
  providers: Pick<ProviderKnowledge, 'findApi' | 'probeNew'>;
  env: Readonly<Record<string, string | undefined>>;
  context: Pick<ChangeContext, 'ownAddresses'>;
}

/**
 * Tests what `provider.add` would add. `plan` says what that would be, with its refusals: whoever may not add a provider,
 * or name a file of this host as its credential, learns nothing of it here either.
 */
export async function tryProvider(
  ports: TryPorts,
  { provider, address, credentials }: CommandMap['provider.try'],
  plan: (addition: Addition) => Promise<Pick<Change<unknown>, 'config' | 'storeBefore'>>,
): Promise<ProviderTrial> {
  const planned = async (fields: Fields) =>
    plannedProvider(await plan({ type: 'provider.add', provider: fields, credentials }));
  const given: Fields = address === undefined ? provider : { ...provider, baseUrl: cleanBaseUrl(address) };
  const { config: first, values } = await planned(given);
  const secrets = await secretsOf(first, values, ports.env);
  const compile = (config: ProviderConfig): CompiledProvider =>
    compileProvider(config, { secrets, discovered: new Map(), ownAddresses: ports.context.ownAddresses });
  const isAsked = address !== undefined && !provider.preset && !provider.dialect;
  const found = isAsked ? await ports.providers.findApi(address, (as) => compile({ ...first, ...as })) : null;
  const fields = found ? { ...given, ...fieldsOf(found, provider) } : given;
  const { config } = found ? await planned(fields) : { config: first };
  return {
    provider: { ...fields, baseUrl: config.baseUrl, dialect: config.dialect },
    isFound: found !== null,
    report: await ports.providers.probeNew(compile({ ...config, id: first.id }), config.preset ?? null),
  };
}

function fieldsOf({ dialect, baseUrl, preset, listsModels }: FoundApi, { models }: Fields): Fields {
  return {
    dialect,
    baseUrl,
    ...(preset !== null && { preset }),
    // Whoever does not list them takes them by name.
    ...(!listsModels && !models && { models: ['*'] }),
  };
}

function plannedProvider({ config, storeBefore = [] }: Pick<Change<unknown>, 'config' | 'storeBefore'>) {
  const added = config.providers.at(-1);
  if (!added) throw new Error('an addition adds a provider');
  return { config: added, values: new Map(storeBefore.map(({ name, value }) => [name, value])) };
}

/** Those that were entered, and those that are read where they lie. */
async function secretsOf(
  { id, credentials }: ProviderConfig,
  entered: ReadonlyMap<string, string>,
  env: TryPorts['env'],
): Promise<Map<string, string>> {
  const secrets = new Map(entered);
  for (const { id: credential, secret } of credentials) {
    const name = credentialSecretName(id, credential);
    if (secrets.has(name)) continue;
    const value = await resolveSecret(secret, { name, env, store: { get: async () => undefined } });
    if (value !== undefined) secrets.set(name, value);
  }
  return secrets;
}
