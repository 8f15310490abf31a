import { GatewayError } from '../../contract/errors.ts';
import { headerParameters } from './header-parameters.ts';

/**
 * Refuses a content type that names a parameter twice, or its boundary in a second way: of two boundaries the upstream may
 * take the other one, and find another form in the same bytes.
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
