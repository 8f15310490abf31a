import { GatewayError } from '../../contract/errors.ts';
import { headerParameters } from './header-parameters.ts';

/** The encodings in which all parsers agree on names and values. */
const plainCharsets = new Set(['utf-8', 'utf8', 'us-ascii']);

export function isPlainCharset(charset: string): boolean {
  return plainCharsets.has(charset.toLowerCase());
}

/**
 * Refuses a content type with a repeated parameter, such as two boundaries: of these the upstream may choose the other one
 * and read a different form.
 */
export function checkContentType(contentType: string | undefined): void {
  if (!contentType?.includes(';')) return;
  const { values, repeated } = headerParameters(contentType);
  const doubled = repeated ?? [...values.keys()].find((name) => name.startsWith('boundary*')) ?? null;
  if (doubled === null) return;
  throw new GatewayError('invalid_value', `The content type names its parameter "${doubled.slice(0, 100)}" twice.`, {
    param: 'content-type',
  });
}

/**
 * Refuses forms in other encodings: Django decodes forms by this charset (`HttpRequest.encoding`), so `+AG0-odel` in UTF-7 would be
 * `model`.
 */
export function checkFormCharset(contentType: string): void {
  const { values } = headerParameters(contentType);
  const isExtended = [...values.keys()].some((name) => name.startsWith('charset*'));
  if (!isExtended && isPlainCharset(values.get('charset') ?? 'utf-8')) return;
  throw new GatewayError(
    'invalid_value',
    'The content type names a charset that is not UTF-8. Send the form in UTF-8.',
    {
      param: 'content-type',
    },
  );
}
