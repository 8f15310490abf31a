/** Redacts credentials from headers and URLs that are stored or shown, whichever part contains them. */

import { isCredentialName } from '../../apis/core/requests/client-credentials.ts';
import type { HeaderList } from '../../contract/capture.ts';
import { redactText, withoutKeys } from './redact-credential.ts';

const redactionMark = '[redacted]';
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
