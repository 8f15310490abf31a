import envPaths from 'env-paths';
import type { ProxySettings } from './transport/proxy-choice.ts';

/** What the environment says to Sluice. */
export interface Environment {
  dataDir: string;
  /** Where this system keeps the logs of programs; null where the data folder was chosen, which then holds them too. */
  systemLogDir: string | null;
  /** Protects the encrypted file of secrets. */
  passphrase: string | undefined;
  secrets: 'auto' | 'keychain' | 'file';
  proxies: ProxySettings;
}

/** As folders of logs are named there. */
const systemName = process.platform === 'linux' ? 'sluice' : 'Sluice';
const secretStores = ['auto', 'keychain', 'file'] as const;

/** A variable has a value that means nothing. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}

/** Throws an EnvironmentError on a value that means nothing. An empty variable counts as none. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Environment {
  const wanted = env.SLUICE_SECRETS || 'auto';
  const secrets = secretStores.find((store) => store === wanted);
  if (!secrets) throw new EnvironmentError(`SLUICE_SECRETS is "${wanted}": it must be auto, keychain or file.`);
  return {
    dataDir: env.SLUICE_DATA_DIR || envPaths('sluice', { suffix: '' }).data,
    systemLogDir: env.SLUICE_DATA_DIR ? null : envPaths(systemName, { suffix: '' }).log,
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
