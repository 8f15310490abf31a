import { GatewayError } from '../contract/errors.ts';
import { containsSecret } from './find-secrets.ts';

/** Settings that were exchanged by mistake: no provider is to be told the key as the name of a model. */
export function checkModelName(model: string, presented: readonly string[]): void {
  if (!containsSecret(model, presented)) return;
  throw new GatewayError('invalid_value', "The field 'model' holds the key. Put the name of a model there.", {
    param: 'model',
  });
}
