/**
 * Secrets of a request, its client's key and the provider's credential, may come back from an upstream or stand where they
 * do not belong: in a message, a code, a header, a body. The client gets such a reply as it is; what Sluice notes of it, or
 * says about it, does not hold them.
 */
import { redactSecretShapes } from '../contract/secret-shape.ts';
import type { UpstreamCredential } from '../providers/upstream.ts';
import { findSecrets, mayHoldSecret } from './find-secrets.ts';

const mark = '[redacted]';
/** So much more than is kept is looked at: a secret may be cut by the end, and escapes make it many times as long. */
export const overlapBytes = 8 * 1024;
/** Of a name or message that somebody else wrote, so much is searched for secrets by their shape; less is kept. */
const maxShapedLength = 1_024;

/** The client's key, and the values of the credential's headers, which are the secret, or `Bearer` and the secret. */
export function secretsOf(presented: readonly string[], credential: UpstreamCredential | null): readonly string[] {
  if (!credential) return presented;
  return [...presented, ...Object.values(credential.headers).map((value) => value.replace(/^Bearer /, ''))];
}

export function redactText(text: string, secrets: readonly string[]): string {
  if (!mayHoldSecret(text, secrets)) return text;
  const bytes = Buffer.from(text);
  const redacted = redactBytes(bytes, secrets);
  return redacted === bytes ? text : redacted.toString();
}

/** The first `keptBytes`, or the same bytes if that is all and there is nothing to take out. */
export function redactBytes(bytes: Buffer, secrets: readonly string[], keptBytes = bytes.length): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { start, end } of findSecrets(bytes.subarray(0, keptBytes + overlapBytes), secrets)) {
    if (start >= keptBytes) break;
    pieces.push(bytes.subarray(at, start), Buffer.from(mark));
    at = end;
  }
  if (pieces.length === 0) return keptBytes >= bytes.length ? bytes : bytes.subarray(0, keptBytes);
  return Buffer.concat([...pieces, bytes.subarray(at, Math.max(at, keptBytes))]);
}

/** What somebody else named or wrote, as it may stand in log and ledger: without secrets, and no longer than `maxLength`. */
export function notedText(text: string, secrets: readonly string[], maxLength: number): string {
  const known =
    text.length <= maxShapedLength
      ? redactText(text, secrets)
      : redactBytes(Buffer.from(text.slice(0, maxShapedLength + overlapBytes)), secrets, maxShapedLength).toString();
  return redactSecretShapes(known.slice(0, maxShapedLength)).slice(0, maxLength);
}
