import envPaths from 'env-paths';
import { CliError, exitCodes } from './cli/exit-codes.ts';
import type { ProxySettings } from './transport/transport.ts';

/** What the environment says to Sluice. */
export interface Environment {
  dataDir: string;
  /** Protects the encrypted file of secrets. */
  passphrase: string | undefined;
  secrets: 'auto' | 'keychain' | 'file';
  proxies: ProxySettings;
}

const secretStores = ['auto', 'keychain', 'file'] as const;

/** Throws a CliError on a value that means nothing. An empty variable counts as none. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Environment {
  const wanted = env.SLUICE_SECRETS || 'auto';
  const secrets = secretStores.find((store) => store === wanted);
  if (!secrets) throw new CliError('SLUICE_SECRETS must be auto, keychain or file.', exitCodes.usage);
  return {
    dataDir: env.SLUICE_DATA_DIR || envPaths('sluice', { suffix: '' }).data,
    passphrase: env.SLUICE_PASSPHRASE || undefined,
    secrets,
    proxies: {
      // As curl reads them; HTTP_PROXY in capitals too, since this is no CGI program that a request could set it for.
      httpProxy: env.http_proxy || env.HTTP_PROXY || undefined,
      httpsProxy: env.https_proxy || env.HTTPS_PROXY || undefined,
      noProxy: env.no_proxy || env.NO_PROXY || undefined,
    },
  };
}
