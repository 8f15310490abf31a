import envPaths from 'env-paths';
import type { ProxySettings } from '../transport/proxy-choice.ts';

/** Sluice's settings from environment variables. */
export interface Environment {
  dataDir: string;
  /** The system's folder for logs. Null if the user chose the data folder, which then contains the logs. */
  systemLogDir: string | null;
  /** Encrypts the file of secrets. */
  passphrase: string | undefined;
  secrets: 'auto' | 'keychain' | 'file';
  /** On Linux: the address of the D-Bus session, by which the keychain is reached; undefined: the usual one. */
  sessionBus?: string | undefined;
  /**
   * A database that replicas share, or a reference to its address (`env:NAME`, `file:PATH`); undefined: the data folder
   * is used.
   */
  store?: string | undefined;
  /** A file with the key that seals secrets in that database. */
  keyFile?: string | undefined;
  /** An API token for a team gateway. */
  token?: string | undefined;
  proxies: ProxySettings;
  /** Whether those of `ground/fast-paths.ts` are wanted. Default true. */
  fastPaths?: boolean;
}

/** The name of Sluice's folder by the system's convention. */
const systemName = process.platform === 'linux' ? 'sluice' : 'Sluice';
const secretStores = ['auto', 'keychain', 'file'] as const;

/** A variable has an invalid value. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}

/** Throws an EnvironmentError for an invalid value. An empty variable counts as unset. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Environment {
  const requested = env.SLUICE_SECRETS || 'auto';
  const secrets = secretStores.find((store) => store === requested);
  if (!secrets) throw new EnvironmentError(`SLUICE_SECRETS is "${requested}": it must be auto, keychain or file.`);
  const fastPaths = env.SLUICE_FAST_PATHS || 'on';
  if (fastPaths !== 'on' && fastPaths !== 'off')
    throw new EnvironmentError(`SLUICE_FAST_PATHS is "${fastPaths}": it must be on or off.`);
  return {
    ...(fastPaths === 'off' && { fastPaths: false }),
    dataDir: env.SLUICE_DATA_DIR || envPaths('sluice', { suffix: '' }).data,
    systemLogDir: env.SLUICE_DATA_DIR ? null : envPaths(systemName, { suffix: '' }).log,
    passphrase: env.SLUICE_PASSPHRASE || undefined,
    secrets,
    sessionBus:
      env.DBUS_SESSION_BUS_ADDRESS || (env.XDG_RUNTIME_DIR ? `unix:path=${env.XDG_RUNTIME_DIR}/bus` : undefined),
    store: env.SLUICE_STORE || undefined,
    keyFile: env.SLUICE_KEY_FILE || undefined,
    ...(env.SLUICE_TOKEN && { token: env.SLUICE_TOKEN }),
    proxies: {
      // Like curl, but HTTP_PROXY in upper case is read as well, because this is not a CGI program (CVE-2016-5385,
      // "httpoxy").
      httpProxy: env.http_proxy || env.HTTP_PROXY || undefined,
      httpsProxy: env.https_proxy || env.HTTPS_PROXY || undefined,
      noProxy: env.no_proxy || env.NO_PROXY || undefined,
    },
  };
}
