import { GatewayError } from '../contract/errors.ts';
import { isCredentialName } from '../wire/client-credentials.ts';
import { decidingField } from '../wire/deciding-fields.ts';
import type { Route } from '../wire/route.ts';
import { containsSecret } from './find-secrets.ts';

/**
 * A client's query as it may go out: without parameters that carry a credential, else byte for byte. `query` and the result
 * have their `?`, or are empty.
 */
export function outgoingQuery(query: string, presented: readonly string[]): string {
  if (query === '') return query;
  const parameters = query.slice(1).split('&');
  const passed = parameters.filter((parameter) => !carriesCredential(parameter, presented));
  if (passed.length === parameters.length) return query;
  return passed.length === 0 ? '' : `?${passed.join('&')}`;
}

/** Of a request with a body the body says what decides. Some upstreams would take it from the query instead. */
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

/** A stray `%` is left as it is. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}
