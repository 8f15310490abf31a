import type { ProviderView } from '../../contract/provider-views.ts';

/** Credentials, as `provider/credential`, whose secret must be entered. */
export function missingSecrets(providers: readonly ProviderView[]): string[] {
  return providers.flatMap(({ id, credentials }) =>
    credentials.filter(({ hasSecret }) => !hasSecret).map((credential) => `${id}/${credential.id}`),
  );
}
