import { GatewayError } from '../contract/errors.ts';

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
  const read = URL.parse(url);
  const isEncrypted = read && protocols.get(read.protocol);
  const database = Number(read?.pathname.slice(1) || '0');
  if (!read || isEncrypted === undefined || isEncrypted === null || read.hostname === '') throw unusable();
  if (!Number.isInteger(database) || database < 0 || read.search !== '' || read.hash !== '') throw unusable();
  const port = read.port === '' ? defaultPort : Number(read.port);
  const path = database === 0 ? '' : `/${database}`;
  return {
    host: read.hostname.replace(/^\[|\]$/g, ''),
    port,
    isEncrypted,
    user: decoded(read.username),
    password: decoded(read.password),
    database,
    shown: `${read.protocol}//${read.hostname}:${port}${path}`,
  };
}

function decoded(text: string): string | undefined {
  try {
    return text === '' ? undefined : decodeURIComponent(text);
  } catch {
    throw unusable();
  }
}

function unusable(): GatewayError {
  return new GatewayError(
    'invalid_value',
    'The address of Valkey cannot be used. Write it as valkey://USER:PASSWORD@HOST:PORT/DATABASE, or valkeys:// for TLS; redis:// and rediss:// mean the same. Encode "@", ":" and "/" in a password (%40, %3A, %2F).',
  );
}
