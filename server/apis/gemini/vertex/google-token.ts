/** Access tokens from Google's own library. Its calls use Sluice's transport and proxies. */
import { GoogleAuth, JWT, type JWTInput, UserRefreshClient } from 'google-auth-library';
import { isObject } from '../../../contract/is-object.ts';
import { readResponse } from '../../../transport/fetch.ts';
import type { Transport } from '../../../transport/transport.ts';
import { TransportError } from '../../../transport/transport-error.ts';

export interface AccessToken {
  value: string;
  /** Unix milliseconds. */
  expiresAt: number;
}

const scopes = ['https://www.googleapis.com/auth/cloud-platform'];
/** Assumed for a token whose expiry the library does not report. */
const usualLifeMs = 30 * 60_000;
const callMs = 15_000;
/**
 * Without a project id, google-auth-library 10 starts gcloud and queries the metadata server to find one, which is not
 * needed here.
 */
const noProject = 'none';

interface Connection {
  transport: Transport;
  /** As in the configuration of a provider. */
  proxy: string;
}

/**
 * @param json the file of a service account or of a user; null for application-default credentials
 * @throws Error with a message for people
 */
export async function fetchGoogleToken(json: string | null, connection: Connection): Promise<AccessToken> {
  const transporterOptions = { fetchImplementation: fetchThrough(connection), retry: false };
  const client =
    json === null
      ? await new GoogleAuth({ scopes, projectId: noProject, clientOptions: { transporterOptions } }).getClient()
      : clientOf(read(json), transporterOptions);
  const { token } = await client.getAccessToken();
  if (!token) throw new Error('it answered without a token');
  return { value: token, expiresAt: client.credentials.expiry_date ?? Date.now() + usualLifeMs };
}

function read(json: string): JWTInput {
  const value: unknown = JSON.parse(json);
  if (!isObject(value)) throw new Error('the credential is no JSON object');
  return value;
}

/** Other kinds of files could name addresses to call or programs to run for a token. */
function clientOf(file: JWTInput, transporterOptions: object): JWT | UserRefreshClient {
  if (file.type === 'service_account') {
    const { client_email: email, private_key: key } = file;
    if (!email || !key) throw new Error('the file of the service account has no client_email or private_key');
    return new JWT({ email, key, scopes, transporterOptions });
  }
  if (file.type !== 'authorized_user')
    throw new Error('the credential is the file of neither a service account nor a user');
  const client = new UserRefreshClient({ transporterOptions });
  client.fromJSON(file);
  return client;
}

function fetchThrough({ transport, proxy }: Connection): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { origin, pathname, search } = new URL(request.url);
    const body = Buffer.from(await request.arrayBuffer());
    const answer = await readResponse(transport, {
      origin,
      method: request.method,
      path: pathname + search,
      headers: { ...Object.fromEntries(request.headers), 'content-length': String(body.length) },
      body: request.method === 'GET' ? null : body,
      timeouts: { connectMs: callMs, firstByteMs: callMs, idleMs: callMs, totalMs: 2 * callMs },
      proxy,
    });
    if (answer.status >= 500) {
      throw new TransportError('malformed', 'headers', `${origin} answered with status ${answer.status}`);
    }
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headers))
      if (value !== undefined) headers.set(name, String(value));
    return new Response(new Uint8Array(answer.body), { status: answer.status, headers });
  };
}
