/** Headers as they may be kept and shown: what opens something is taken out, whatever header it stands in. */
import type { HeaderList } from '../contract/ledger.ts';
import { isSecretHeader } from '../contract/secret-header.ts';
import type { UpstreamCredential } from '../providers/upstream.ts';
import { redactText } from './redact-credential.ts';

const mark = '[redacted]';
const maxValueLength = 2_000;
/** Schemes with what follows them, keys as services make them, signed tokens. */
const secretValue = /\b(?:Bearer|Basic)\s+[^\s,;]+|\b[sp]k-[\w-]{8,}|(?<![\w-])(?=[\w-]*eyJ)[\w-]+\.[\w-]+\.[\w-]*/gi;
const userInfo = /(?<=:\/\/)[^/\s@]+(?=@)/g;
/** An address can be signed, or bear its key, in its query. */
const query = /(?<=:\/\/[^\s?]*\?)[^\s,>"]+/g;

export function redactHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  credential: UpstreamCredential | null,
): HeaderList {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, redactHeader(name, one, credential)]),
  );
}

function redactHeader(name: string, value: string, credential: UpstreamCredential | null): string {
  if (isSecretHeader(name)) return mark;
  return redactText(value, credential)
    .replace(secretValue, mark)
    .replace(userInfo, mark)
    .replace(query, mark)
    .slice(0, maxValueLength);
}
