import { GatewayError } from '../contract/errors.ts';
import { isCredentialName } from '../wire/client-credentials.ts';
import { decidingField } from '../wire/deciding-fields.ts';
import type { Route } from '../wire/route.ts';
import { containsSecret } from './find-secrets.ts';

/**
 * The client's query without parameters that carry a credential, otherwise byte for byte. `query` and the result include
 * the `?`, or are empty.
 */
export function outgoingQuery(query: string, presented: readonly string[]): string {
  if (query === '') return query;
  const parameters = query.slice(1).split('&');
  const passed = parameters.filter((parameter) => !carriesCredential(parameter, presented));
  if (passed.length === parameters.length) return query;
  return passed.length === 0 ? '' : `?${passed.join('&')}`;
}

/**
 * Throws a GatewayError if the query of a request with a body contains a deciding field: an upstream might take it from
 * the query instead of the body.
 */
export function checkQuery(query: string, { body }: Route): void {
  if (query === '' || body === 'none' || body === 'passed') return;
  for (const parameter of query.slice(1).split('&')) {
    const field = decidingField(decoded(nameOf(parameter)));
    if (field === null) continue;
    throw new GatewayError('invalid_value', `Send '${field}' in the body. It is not taken from the query.`, {
      param: field,
    });
  }
}

function carriesCredential(parameter: string, presented: readonly string[]): boolean {
  if (isCredentialName(decoded(nameOf(parameter)))) return true;
  return containsSecret(parameter, presented) || containsSecret(parameter.replaceAll('+', ' '), presented);
}

function nameOf(parameter: string): string {
  const sign = parameter.indexOf('=');
  return sign === -1 ? parameter : parameter.slice(0, sign);
}

/** Keeps a stray `%`. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}
