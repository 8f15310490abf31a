/** Redacts credentials from headers that are stored or shown, whichever header contains them. */
import type { HeaderList } from '../contract/ledger.ts';
import { isCredentialName } from '../wire/client-credentials.ts';
import { redactText } from './redact-credential.ts';

const mark = '[redacted]';
const maxValueLength = 2_000;
/** More than is kept, since redaction shortens the value. */
const maxSearchedLength = 4_000;
/** Schemes with their credentials, keys in the usual form of services, signed tokens. */
const secretValue = /\b(?:Bearer|Basic)\s+[^\s,;]+|\b[sp]k-[\w-]{8,}|\beyJ[\w.-]{20,}/gi;
const userInfo = /(?<=:\/\/)[^/\s@]+(?=@)/g;
/** The query of a URL may contain a signature or key. */
const query = /(?<=:\/\/[^\s?]*\?)[^\s,>"]+/g;

export function redactHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  secrets: readonly string[],
): HeaderList {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, redactHeader(name, one, secrets)]),
  );
}

function redactHeader(name: string, value: string, secrets: readonly string[]): string {
  if (isCredentialName(name)) return mark;
  return redactText(value, secrets)
    .slice(0, maxSearchedLength)
    .replace(secretValue, mark)
    .replace(userInfo, mark)
    .replace(query, mark)
    .slice(0, maxValueLength);
}
