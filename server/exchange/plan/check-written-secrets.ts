/**
 * Catches swapped client settings: a key written where the name of a model, an object or a path belongs would go to a provider, and
 * into its logs. The messages do not repeat it.
 */
import { GatewayError } from '../../contract/errors.ts';
import { containsSecret } from '../redact/find-secrets.ts';

const meantBy: Readonly<Record<string, string>> = { model: 'the name of a model' };

/** @throws GatewayError `invalid_value` if the field contains a key */
export function checkName(field: string, name: string, secrets: readonly string[]): void {
  if (!containsSecret(name, secrets)) return;
  const meant = meantBy[field] ?? 'an id';
  throw new GatewayError('invalid_value', `The field '${field}' contains an API key. Set it to ${meant}.`, {
    param: field,
  });
}

/** @throws GatewayError `invalid_value` if the path contains a key. Parameters of the query that do are left out. */
export function checkPath(path: string, secrets: readonly string[]): void {
  if (!containsSecret(path, secrets)) return;
  throw new GatewayError(
    'invalid_value',
    'The path of the URL contains an API key, so that this request was not forwarded. Write the id that belongs there, and send the key only in a header.',
  );
}
