/**
 * An upstream may show whoever asks the credential that it was sent: in a message, a code, a header. The client gets that
 * reply as it is; what Sluice notes of it, or says about it, does not hold the credential.
 */
import type { UpstreamCredential } from '../providers/upstream.ts';

const mark = '[credential]';
/** Shorter ones (`none`, `ollama`) are no secrets, and stand in many a text by chance. */
const minLength = 8;

export function redactText(text: string, credential: UpstreamCredential | null): string {
  return secretsOf(credential).reduce((rest, secret) => rest.replaceAll(secret, mark), text);
}

/** The same bytes if there is nothing to take out. */
export function redactBytes(bytes: Buffer, credential: UpstreamCredential | null): Buffer {
  const isLeaking = secretsOf(credential).some((secret) => bytes.includes(secret, 0, 'latin1'));
  return isLeaking ? Buffer.from(redactText(bytes.toString('latin1'), credential), 'latin1') : bytes;
}

/** The values of its headers, which are the secret, or `Bearer` and the secret. */
function secretsOf(credential: UpstreamCredential | null): string[] {
  const values = Object.values(credential?.headers ?? {}).map((value) => value.replace(/^Bearer /, ''));
  return values.filter((secret) => secret.length >= minLength);
}
