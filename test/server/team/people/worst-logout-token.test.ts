/**
 * The most expensive logout tokens, which anybody can send, checked with the most expensive keys.
 *
 * @suite measured
 */
import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createLogoutCheck } from '../../../../server/team/people/identity-provider.ts';
import { testedWithTeam, testWorstCases } from '../../worst-cases.ts';

const base64 = (value: string | Buffer) => Buffer.from(value).toString('base64url');
const json = (value: object) => base64(JSON.stringify(value));

/** The longest of its kind for which any exponent is allowed, and with the longest exponent. */
function costlyKey(): object {
  const modulus = randomBytes(384);
  modulus[0] = 0xff;
  modulus[modulus.length - 1] = 0xff;
  return { kty: 'RSA', n: base64(modulus), e: base64(Buffer.alloc(modulus.length, 0x7f)) };
}

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keys = [
  ...Array.from({ length: 98 }, costlyKey),
  { ...costlyKey(), kid: 'costly' },
  { ...publicKey.export({ format: 'jwk' }), kid: 'signing' },
];
const check = createLogoutCheck(async () => ({ keys }));
const expected = { issuer: 'https://identity.example', audience: 'sluice', nowMs: 0 };

/** Its signature is right, so that its claims are read. */
function signedToken(claims: string): string {
  const signed = `${json({ alg: 'ES256', kid: 'signing' })}.${base64(claims)}`;
  const key = createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return `${signed}.${base64(sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }))}`;
}

const bytesOf = (bytes: number) => Math.floor(bytes * 0.75);
const claimsWith = (more: string) =>
  `{"iss":"${expected.issuer}","iat":0,"jti":"1","sub":"mia","aud":"sluice",${more}}`;
const event = '"http://schemas.openid.net/event/backchannel-logout"';
const unsigned = (head: object) => (bytes: number) =>
  `${json(head)}.${'a'.repeat(bytes)}.${base64(Buffer.alloc(384, 1))}`;

testWorstCases({
  'a logout token': {
    // The most that its route takes.
    atOnceBytes: 8 * 1024,
    readers: testedWithTeam,
    inputs: {
      'parts without end': ['', '.', ''],
      'a nested header': (bytes) => `${base64('['.repeat(bytesOf(bytes)))}.a.b`,
      'a long algorithm': (bytes) => `${json({ alg: 'x'.repeat(bytesOf(bytes)) })}.a.b`,
      'a long key id': (bytes) => `${json({ alg: 'RS256', kid: 'x'.repeat(bytesOf(bytes)) })}.a.b`,
      'the name of the key that costs most': unsigned({ alg: 'RS256', kid: 'costly' }),
      'no name of a key': unsigned({ alg: 'PS256' }),
      'a signature without end': (bytes) => `${json({ alg: 'ES256', kid: 'signing' })}.a.${'a'.repeat(bytes)}`,
      'nested claims': (bytes) => signedToken('['.repeat(bytesOf(bytes))),
      'many audiences': (bytes) =>
        signedToken(claimsWith(`"aud":[${'"",'.repeat(bytesOf(bytes) / 3)}""],"events":{${event}:{}}`)),
      'a nested event': (bytes) => {
        const depth = bytesOf(bytes) / 2;
        return signedToken(claimsWith(`"events":{${event}:{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`));
      },
      'one claim again and again': (bytes) =>
        signedToken(claimsWith(`${'"a":1,'.repeat(bytesOf(bytes) / 6)}"events":{${event}:{}}`)),
    },
    run: (bytes) => check(bytes.toString(), expected).catch((error: unknown) => error),
  },
});
