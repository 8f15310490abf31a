import { pattern } from '../bounded-pattern.ts';
import { findMember } from '../wire/json/find-member.ts';
import type { UpstreamError } from '../wire/upstream-error.ts';

const maxLength = 100;
const isShortText = pattern(/^\s*:\s*"([^"\\]{1,100})"/);
const isStatus = pattern(/^\d+$/);

/** What an upstream calls its error; null where that is nothing, or merely the status once more. */
export function namedCode(error: UpstreamError | null): string | null {
  const code = error?.code ?? '';
  return code === '' || code.length > maxLength || isStatus.test(code) ? null : code;
}

/** The same of the end of a stream. */
export function errorCodeIn(text: string): string | null {
  const from = text.indexOf('"error"');
  return from === -1 ? null : (findMember(text, 'code', isShortText, from)?.value ?? null);
}
