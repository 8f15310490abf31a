/** Headers as they may be kept and shown: what opens something is taken out, whatever header it stands in. */
import type { HeaderList } from '../contract/ledger.ts';
import { isCredentialName } from '../wire/client-credentials.ts';
import { redactText } from './redact-credential.ts';

const mark = '[redacted]';
const maxValueLength = 2_000;
/** More than is kept, since what is taken out makes it shorter. */
const maxSearchedLength = 4_000;
/** Schemes with what follows them, keys as services make them, signed tokens. */
const secretValue = /\b(?:Bearer|Basic)\s+[^\s,;]+|\b[sp]k-[\w-]{8,}|\beyJ[\w.-]{20,}/gi;
const userInfo = /(?<=:\/\/)[^/\s@]+(?=@)/g;
/** An address can be signed, or bear its key, in its query. */
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
