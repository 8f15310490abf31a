/** Resolves the address of a database, which is given as a URL or as a reference to one. */
import { GatewayError } from '../../contract/errors.ts';
import { FollowedFiles } from '../../ground/files/follow-file.ts';
import { resolveSecret, secretFileOf } from '../../secrets/secret-store.ts';
import { messageOf } from '../rules/failures.ts';

/** The parts of a database's address, without the password. */
export interface Address {
  /** Includes the port. */
  host: string;
  user: string;
  database: string;
}

type Env = Readonly<Record<string, string | undefined>>;

const isReference = (text: string) => text.startsWith('env:') || text.startsWith('file:');

/**
 * Accepts `postgres://…`, `env:NAME` or `file:PATH`; the password in the URL may be such a reference too. Rejects with
 * a GatewayError `invalid_value` that never contains a password.
 */
export async function resolveAddress(givenAddress: string, env: Env): Promise<string> {
  return (await resolveParts(givenAddress, env)).url;
}

/** An address that follows the files that it refers to. */
interface FollowedAddress {
  /** As of now; secret. */
  readonly url: string;
  /** Reads the files again. A failure is logged, and the address stays as it was. */
  read(): Promise<void>;
  close(): void;
}

/** Like `resolveAddress`. New connections use what its files hold by then. */
export async function followAddress(
  givenAddress: string,
  env: Env,
  log: { warn(fields: object, message: string): void },
): Promise<FollowedAddress> {
  let current = await resolveParts(givenAddress, env);
  const read = async () => {
    try {
      current = await resolveParts(givenAddress, env);
      files.follow(current.files);
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'the address of the database cannot be read again; it stays as it was');
    }
  };
  const files = new FollowedFiles(() => void read());
  files.follow(current.files);
  return {
    get url() {
      return current.url;
    },
    read,
    close: () => files.close(),
  };
}

async function resolveParts(givenAddress: string, env: Env): Promise<{ url: string; files: string[] }> {
  const url = isReference(givenAddress) ? (await resolve(givenAddress, env)).trim() : givenAddress;
  readAddress(url);
  const parsed = new URL(url);
  const password = decoded(parsed.password);
  const files = [givenAddress, password].flatMap((reference) => secretFileOf(reference) ?? []);
  if (!isReference(password)) return { url: withVerifiedTls(url), files };
  parsed.password = encodeURIComponent(await resolve(password, env));
  return { url: withVerifiedTls(parsed.href), files };
}

/** pg treats these modes as `verify-full` and prints a six-line warning about it at each start. */
function withVerifiedTls(url: string): string {
  if (/[?&]uselibpqcompat=true(?:&|$)/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

async function resolve(reference: string, env: Env): Promise<string> {
  const store = { get: async () => undefined };
  const value = await resolveSecret(reference, { name: 'store', store, env });
  if (value !== undefined) return value;
  throw new GatewayError('invalid_value', `The address of the database refers to ${reference}, which holds no value.`);
}

/** Throws a GatewayError `invalid_value` that does not contain the URL if it is not a PostgreSQL URL. */
export function readAddress(url: string): Address {
  const parsed = URL.parse(url);
  if (parsed === null || !['postgres:', 'postgresql:'].includes(parsed.protocol)) throw unusableAddress();
  const user = decoded(parsed.username);
  decoded(parsed.password);
  return { host: decoded(parsed.host) || 'localhost', user, database: decoded(parsed.pathname.slice(1)) || user };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unusableAddress();
  }
}

function unusableAddress(): GatewayError {
  return new GatewayError(
    'invalid_value',
    'The address of the database cannot be used. Write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE, and "%", "@", ":" and "/" in a password as %25, %40, %3A and %2F.',
  );
}
