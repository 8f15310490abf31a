/** Checks logout tokens of an identity provider (OpenID Connect Back-Channel Logout 1.0, 2.6). */
import { constants, createPublicKey, type VerifyKeyObjectInput, verify } from 'node:crypto';
import { z } from 'zod';

const keySchema = z.looseObject({
  kty: z.string(),
  kid: z.string().optional(),
  use: z.string().optional(),
  alg: z.string().optional(),
});
const keySetSchema = z.object({ keys: z.array(keySchema).max(100) });

const headerSchema = z.object({ alg: z.string(), kid: z.string().optional() });
const event = 'http://schemas.openid.net/event/backchannel-logout';
const claimsSchema = z.object({
  iss: z.string(),
  aud: z.union([z.string(), z.array(z.string())]),
  iat: z.number(),
  exp: z.number().optional(),
  jti: z.string().min(1).max(1_000),
  // Sessions are not told apart: the person leaves all of them.
  sub: z.string({ error: 'the logout token names no person (sub)' }),
  events: z.object({ [event]: z.record(z.string(), z.unknown()) }),
  nonce: z.undefined({ error: 'a logout token has no nonce' }).optional(),
});

/** A token that is older than this could have been recorded. */
const maxAgeMs = 5 * 60_000;
const clockSkewMs = 60_000;

interface Algorithm {
  kty: string;
  /** The curve of its keys. */
  crv?: string;
  digest: string | null;
  /** How the keys are used. */
  how?: Omit<VerifyKeyObjectInput, 'key'>;
}

const algorithms: Readonly<Record<string, Algorithm>> = {
  RS256: { kty: 'RSA', digest: 'sha256' },
  PS256: {
    kty: 'RSA',
    digest: 'sha256',
    how: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
  },
  ES256: { kty: 'EC', crv: 'P-256', digest: 'sha256', how: { dsaEncoding: 'ieee-p1363' } },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', digest: null },
};

interface Expected {
  keys: z.infer<typeof keySchema>[];
  issuer: string;
  audience: string;
  nowMs: number;
}

interface Logout {
  /** Whose sessions it ends. */
  subject: string;
  id: string;
  /** Until when the token is valid. */
  endsMs: number;
}

type CheckLogout = (token: string, expected: Omit<Expected, 'keys'>) => Promise<Logout>;

/** For so long keys are used again, since anybody can make Sluice look at them. */
const keysForMs = 10_000;

/** `readKeys` gets the identity provider's key set (RFC 7517). The check rejects with an Error that says what is wrong. */
export function createLogoutCheck(readKeys: () => Promise<unknown>): CheckLogout {
  let read: { keys: Promise<z.infer<typeof keySetSchema>>; atMs: number } | null = null;
  return async (token, expected) => {
    if (read === null || expected.nowMs - read.atMs >= keysForMs)
      read = { keys: readKeys().then((answer) => keySetSchema.parse(answer)), atMs: expected.nowMs };
    return readLogout(token, { ...expected, keys: (await read.keys).keys });
  };
}

/** Of identity providers that end thousands of sessions in a moment. */
const maxRemembered = 10_000;

/** Logout tokens that have been obeyed, so that each is obeyed once. */
export class SeenLogouts {
  /** By id: until when it is valid; in the order of their coming. */
  readonly #seen = new Map<string, number>();

  refuseSeen({ id }: Logout): void {
    if (this.#seen.has(id)) throw new Error('the logout token has come before');
  }

  add({ id, endsMs }: Logout, nowMs: number): void {
    for (const [each, untilMs] of this.#seen)
      if (untilMs < nowMs || this.#seen.size >= maxRemembered) this.#seen.delete(each);
    this.#seen.set(id, endsMs);
  }
}

/** Throws an Error that says what is wrong with it. */
function readLogout(token: string, { keys, issuer, audience, nowMs }: Expected): Logout {
  const [head = '', body = '', signature = '', ...rest] = token.split('.');
  if (rest.length > 0) throw new Error('the logout token is no signed token');
  const { alg, kid } = headerSchema.parse(jsonOf(head));
  const algorithm = Object.hasOwn(algorithms, alg) ? algorithms[alg] : undefined;
  if (!algorithm) throw new Error(`the logout token is signed by ${alg.slice(0, 20)}`);
  const [key, another] = keys.filter((each) => fits(each, { alg, kid, ...algorithm }));
  // Trying one after another, a token of anybody could cost as much work as there are keys.
  if (!key || another) throw new Error('the logout token names no key of the identity provider, or several');
  const signed = Buffer.from(`${head}.${body}`);
  const publicKey = { key: createPublicKey({ key, format: 'jwk' }), ...algorithm.how };
  if (!verify(algorithm.digest, signed, publicKey, Buffer.from(signature, 'base64url')))
    throw new Error('the logout token is not signed by the identity provider');
  const claims = claimsSchema.parse(jsonOf(body));
  if (claims.iss !== issuer) throw new Error('the logout token is of another identity provider');
  if (![claims.aud].flat().includes(audience)) throw new Error('the logout token is for another client');
  const issuedMs = claims.iat * 1_000;
  const endsMs = claims.exp === undefined ? issuedMs + maxAgeMs : claims.exp * 1_000;
  if (issuedMs > nowMs + clockSkewMs || issuedMs < nowMs - maxAgeMs || endsMs < nowMs - clockSkewMs)
    throw new Error('the logout token is not of now');
  return { subject: claims.sub, id: claims.jti, endsMs: issuedMs + maxAgeMs + clockSkewMs };
}

function jsonOf(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString());
  } catch {
    throw new Error('the logout token is no signed token');
  }
}

function fits(
  key: z.infer<typeof keySchema>,
  { alg, kid, kty, crv }: Algorithm & { alg: string; kid: string | undefined },
): boolean {
  if (key.kty !== kty || (crv !== undefined && key.crv !== crv) || key.use === 'enc') return false;
  return (kid === undefined || key.kid === kid) && (key.alg === undefined || key.alg === alg);
}
