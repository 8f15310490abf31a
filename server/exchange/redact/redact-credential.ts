/** Credentials in what Sluice records or says of a request: its headers and URL, and texts that an upstream wrote. */
import { isCredentialName } from '../../apis/core/requests/client-credentials.ts';
import type { ByteRange } from '../../apis/json/json-scan.ts';
import type { HeaderList } from '../../contract/capture.ts';
import { redactSecretShapes } from '../../contract/secret-shape.ts';
import { finish } from '../../ground/promises.ts';
import type { UpstreamCredential } from '../../providers/upstream.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import { findingAll, findSecrets, holdsNoEscape, mayHoldSecret } from './find-secrets.ts';

// Redacts the client's key and the provider's credential from what Sluice records or says about a response. An
// upstream may echo them in a message, a code, a header or a body. The client receives the response itself
// unchanged.

const redactionMark = '[redacted]';
/** How much is searched beyond the kept part: a secret may be cut at its end, and escapes make it many times longer. */
export const overlapBytes = 8 * 1024;
/** How much of an untrusted name or message is searched for secrets by their shape; less is kept. */
const maxShapedLength = 1_024;

/** The client's keys, and the values of the credential's headers: the secret itself, or `Bearer` and the secret. */
export function secretsOf(presentedKeys: readonly string[], credential: UpstreamCredential | null): readonly string[] {
  if (!credential) return presentedKeys;
  const headerSecrets = sentSecretsOf(credential);
  return credential.signing
    ? [...presentedKeys, ...headerSecrets, ...credential.signing.secrets]
    : [...presentedKeys, ...headerSecrets];
}

const sentSecrets = new WeakMap<UpstreamCredential, readonly string[]>();

/** Those in its headers, read once per credential. */
function sentSecretsOf(credential: UpstreamCredential): readonly string[] {
  const cached = sentSecrets.get(credential);
  if (cached) return cached;
  const secrets = Object.values(credential.headers).map((value) => value.replace(/^Bearer /, ''));
  sentSecrets.set(credential, secrets);
  return secrets;
}

export function redactText(text: string, secrets: readonly string[]): string {
  if (!mayHoldSecret(text, secrets)) return text;
  const bytes = Buffer.from(text);
  const redacted = redactBytes(bytes, secrets);
  return redacted === bytes ? text : redacted.toString();
}

/** The first `keptBytes` without secrets; the same buffer if nothing has to be removed. */
export function redactBytes(bytes: Buffer, secrets: readonly string[], keptBytes = bytes.length): Buffer {
  return marked(bytes, findSecrets(bytes.subarray(0, keptBytes + overlapBytes), secrets), keptBytes);
}

function marked(bytes: Buffer, ranges: readonly ByteRange[], keptBytes = bytes.length): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { start, end } of ranges) {
    if (start >= keptBytes) break;
    pieces.push(bytes.subarray(at, start), Buffer.from(redactionMark));
    at = end;
  }
  if (pieces.length === 0) return keptBytes >= bytes.length ? bytes : bytes.subarray(0, keptBytes);
  return Buffer.concat([...pieces, bytes.subarray(at, Math.max(at, keptBytes))]);
}

/** A short text without what has the form of a key, also escaped. */
export function withoutKeys(text: string): string {
  if (holdsNoEscape(text)) return redactSecretShapes(text);
  const bytes = Buffer.from(text);
  return marked(bytes, finish(findingAll(bytes, [])).shapes).toString();
}

/** Untrusted text for log and ledger: without secrets and at most `maxLength` characters. */
export function notedText(text: string, secrets: readonly string[], maxLength: number): string {
  const redacted =
    text.length <= maxShapedLength
      ? redactText(text, secrets)
      : redactBytes(Buffer.from(text.slice(0, maxShapedLength + overlapBytes)), secrets, maxShapedLength).toString();
  return withoutKeys(redacted.slice(0, maxShapedLength)).slice(0, maxLength);
}

/**
 * Local servers accept any credential, so that people write words (`lm-studio`, `not-needed`), which names of models and
 * providers contain too. Real keys are longer.
 */
const minDistinctLength = 16;

interface ConfiguredSecrets {
  all: readonly string[];
  /** Those that no name contains by chance. */
  distinct: readonly string[];
}

const bySnapshot = new WeakMap<Snapshot, ConfiguredSecrets>();

/**
 * The secrets of all configured providers: one provider's answer, or a client's mistake, may contain another's.
 *
 * Read once per snapshot.
 */
export function configuredSecrets(snapshot: Snapshot): ConfiguredSecrets {
  const cached = bySnapshot.get(snapshot);
  if (cached) return cached;
  const secrets = [...snapshot.providers.values()].flatMap(({ credentials, headers }) => [
    ...credentials.flatMap((credential) => secretsOf([], credential)),
    ...Object.entries(headers).flatMap(([name, value]) => (isCredentialName(name) ? [withoutScheme(value)] : [])),
  ]);
  const all = [...new Set(secrets)];
  const configured = { all, distinct: all.filter(({ length }) => length >= minDistinctLength) };
  bySnapshot.set(snapshot, configured);
  return configured;
}

function withoutScheme(value: string): string {
  return value.startsWith('Bearer ') ? value.slice('Bearer '.length) : value;
}

const maxValueLength = 2_000;
/** More than is kept, since redaction shortens the value. */
const maxSearchedLength = 4_000;
/** Schemes with their credentials, keys in the usual form of services, signed tokens. */
const secretValue = /\b(?:Bearer|Basic)\s+[^\s,;]+|\b[sp]k-[\w-]{8,}|\beyJ[\w.-]{20,}/gi;
const userInfo = /(?<=:\/\/)[^/\s@]+(?=@)/g;
/** The query of a URL may contain a signature or key. */
const query = /(?<=:\/\/[^\s?]*\?)[^\s,>"]+/g;

/** Redacts credentials from headers and URLs that are stored or shown, whichever part contains them. */
export function redactHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  secrets: readonly string[],
): HeaderList {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((item): [string, string] => [name, redactHeader(name, item, secrets)]),
  );
}

function redactHeader(name: string, value: string, secrets: readonly string[]): string {
  if (isCredentialName(name)) return redactionMark;
  return redactValue(value, secrets).replace(query, redactionMark).slice(0, maxValueLength);
}

function redactValue(value: string, secrets: readonly string[]): string {
  return withoutKeys(
    redactText(value, secrets).slice(0, maxSearchedLength).replace(secretValue, redactionMark),
  ).replace(userInfo, redactionMark);
}

/** The URL or path of a request that Sluice received or sent: its query stays, except for parameters that carry a credential. */
export function redactUrl(url: string, secrets: readonly string[]): string {
  const [address = '', ...rest] = url.slice(0, maxSearchedLength).split('?');
  const parameters = rest.join('?').split('&').map(redactParameter).join('&');
  const redactedUrl = parameters === '' ? address : `${address}?${parameters}`;
  return redactValue(redactedUrl, secrets).slice(0, maxValueLength);
}

function redactParameter(parameter: string): string {
  const sign = parameter.indexOf('=');
  return sign !== -1 && isCredentialName(decoded(parameter.slice(0, sign)))
    ? `${parameter.slice(0, sign)}=${redactionMark}`
    : parameter;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
