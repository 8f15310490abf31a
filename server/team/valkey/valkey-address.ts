import { GatewayError } from '../../contract/errors.ts';

/** Parses the URL of Valkey (or Redis). */
export interface ValkeyAddress {
  host: string;
  port: number;
  isEncrypted: boolean;
  /** undefined for the server's default user. */
  user: string | undefined;
  password: string | undefined;
  database: number;
  /** In the form shown to people, without user and password. */
  shown: string;
}

const protocols = new Map([
  ['valkey:', false],
  ['redis:', false],
  ['valkeys:', true],
  ['rediss:', true],
]);
const defaultPort = 6379;

/** Throws a GatewayError `invalid_value` that does not contain the URL, because it may include a password. */
export function readValkeyAddress(url: string): ValkeyAddress {
  const parsed = URL.parse(url);
  const isEncrypted = parsed && protocols.get(parsed.protocol);
  const database = Number(parsed?.pathname.slice(1) || '0');
  if (!parsed || isEncrypted === undefined || isEncrypted === null || parsed.hostname === '') throw unusableAddress();
  if (!Number.isInteger(database) || database < 0 || parsed.search !== '' || parsed.hash !== '')
    throw unusableAddress();
  const port = parsed.port === '' ? defaultPort : Number(parsed.port);
  const path = database === 0 ? '' : `/${database}`;
  return {
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port,
    isEncrypted,
    user: decoded(parsed.username),
    password: decoded(parsed.password),
    database,
    shown: `${parsed.protocol}//${parsed.hostname}:${port}${path}`,
  };
}

function decoded(text: string): string | undefined {
  try {
    return text === '' ? undefined : decodeURIComponent(text);
  } catch {
    throw unusableAddress();
  }
}

function unusableAddress(): GatewayError {
  return new GatewayError(
    'invalid_value',
    'The address of Valkey cannot be used. Write it as valkey://USER:PASSWORD@HOST:PORT/DATABASE, or valkeys:// for TLS; redis:// and rediss:// mean the same. Encode "@", ":" and "/" in a password (%40, %3A, %2F).',
  );
}
