/** AWS access keys, with which each request is signed (Signature Version 4). */
import { isObject } from '../../../contract/is-object.ts';
import type { SignedRequest, Signing } from '../../core/dialects/dialect.ts';

interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** `AKIA…:secret`, or `ASIA…:secret:session token` for temporary keys. */
const joined = /^((?:AKIA|ASIA)[A-Z0-9]{12,124}):([^:\s]{1,200})(?::(\S{1,8192}))?$/;

/**
 * Reads the keys from a credential's secret: joined by colons, or as JSON in the format of
 * `aws configure export-credentials`. null for a Bedrock API key.
 */
export function readAwsKeys(secret: string): AwsKeys | null {
  if (secret.startsWith('{')) return keysIn(secret);
  const [, accessKeyId, secretAccessKey, sessionToken] = joined.exec(secret) ?? [];
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
}

function keysIn(json: string): AwsKeys | null {
  try {
    const parsed: unknown = JSON.parse(json);
    if (!isObject(parsed)) return null;
    const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken } = parsed;
    if (typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string') return null;
    const keys = { accessKeyId, secretAccessKey };
    return typeof sessionToken === 'string' ? { ...keys, sessionToken } : keys;
  } catch {
    return null;
  }
}

const regionInHost = /^bedrock(?:-runtime)?(?:-fips)?\.([a-z0-9-]+)\.(?:amazonaws|api\.aws)/;
/** For addresses that do not contain a region, such as the alias of a VPC endpoint. */
const usualRegion = 'us-east-1';

/** AWS refuses signatures whose time differs more from its own. */
const mostSkewMs = 5 * 60_000;

/** @param now in milliseconds since 1970 */
export function awsSigning(keys: AwsKeys, now: () => number = Date.now): Signing {
  /** How far AWS's clock is ahead of this machine's; 0 until a request has been refused for that. */
  let aheadMs = 0;
  return {
    secrets: [keys.secretAccessKey, ...(keys.sessionToken === undefined ? [] : [keys.sessionToken])],
    async headersFor(request) {
      // Loaded on first use, because most users have no AWS account.
      const [{ SignatureV4 }, { Sha256 }] = await Promise.all([
        import('@smithy/signature-v4'),
        import('@aws-crypto/sha256-js'),
      ]);
      const { hostname } = new URL(request.origin);
      const region = regionInHost.exec(hostname)?.[1] ?? usualRegion;
      const signer = new SignatureV4({ service: 'bedrock', region, credentials: keys, sha256: Sha256 });
      const signed = await signer.sign(toSign(request), { signingDate: new Date(now() + aheadMs) });
      return newHeaders(signed.headers);
    },
    // Relative to the time of the signature, as in AWS's SDKs, because other requests may have been refused and
    // corrected in the meantime.
    correctClock({ 'x-amz-date': signedAt = '' }, { date }) {
      const serverMs = Date.parse(String(date));
      const skewMs = Math.abs(serverMs - Date.parse(signedAt.replace(basicTime, '$1-$2-$3T$4:$5:$6Z')));
      // NaN without these times.
      if (!(skewMs >= mostSkewMs)) return false;
      aheadMs = serverMs - now();
      return true;
    },
  };
}

/** `20261122T000000Z` */
const basicTime = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** Only the headers that AWS reads are signed, because proxies may change others. */
function toSign({ origin, method, path, headers, body }: SignedRequest) {
  const { protocol, host, hostname, pathname, searchParams } = new URL(origin + path);
  if (body !== null && !Buffer.isBuffer(body)) throw new Error('unreachable: conversations are sent from memory');
  const type = headers['content-type'];
  return {
    protocol,
    hostname,
    method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: { host, ...(type !== undefined && { 'content-type': String(type) }) },
    ...(body && { body }),
  };
}

/** The transport sets the host itself. */
function newHeaders(signed: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(signed).flatMap(([name, value]) => {
      const lower = name.toLowerCase();
      return lower === 'host' || lower === 'content-type' ? [] : [[lower, value]];
    }),
  );
}
