/**
 * Signature Version 4 as AWS describes it, with which a scripted upstream authenticates requests. Source: AWS, "Create
 * a signed AWS API request".
 */
import { createHash, createHmac } from 'node:crypto';

export interface AwsCall {
  method: string;
  /** As in the request line, including the query. */
  path: string;
  /** The signed headers in lower case, including `host` and `x-amz-date`. */
  headers: Record<string, string>;
  body: string | Buffer;
}

export interface AwsScope {
  region: string;
  service: string;
  secretAccessKey: string;
}

/** The signature in hexadecimal. */
export function awsSignature({ method, path, headers, body }: AwsCall, scope: AwsScope): string {
  const { pathname, searchParams } = new URL(`https://host${path}`);
  const names = Object.keys(headers).sort();
  const query = [...searchParams].map(([name, value]) => `${encoded(name)}=${encoded(value)}`).sort();
  const canonical = [
    method,
    // The segments of the path are already encoded, and are encoded once more.
    pathname.split('/').map(encoded).join('/'),
    query.join('&'),
    ...names.map((name) => `${name}:${headers[name]?.trim()}`),
    '',
    names.join(';'),
    sha256(body),
  ].join('\n');
  const moment = headers['x-amz-date'] ?? '';
  const day = moment.slice(0, 8);
  const place = `${day}/${scope.region}/${scope.service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', moment, place, sha256(canonical)].join('\n');
  let key: Buffer | string = `AWS4${scope.secretAccessKey}`;
  for (const part of [day, scope.region, scope.service, 'aws4_request']) key = hmac(key, part).digest();
  return hmac(key, toSign).digest('hex');
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: Buffer | string, text: string) {
  return createHmac('sha256', key).update(text);
}
