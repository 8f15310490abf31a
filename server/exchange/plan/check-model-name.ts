import { GatewayError } from '../../contract/errors.ts';
import { containsSecret } from '../redact/find-secrets.ts';

/** Catches swapped client settings: a key in the model field must not be forwarded to a provider. */
export function checkModelName(model: string, presentedKeys: readonly string[]): void {
  if (!containsSecret(model, presentedKeys)) return;
  throw new GatewayError('invalid_value', "The field 'model' contains the API key. Set it to the name of a model.", {
    param: 'model',
  });
}
