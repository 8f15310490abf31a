import type { ServerResponse } from 'node:http';
import { countTokens } from '../translate/count-tokens.ts';
import { isWireName } from '../translate/wire-translations.ts';
import type { Route } from '../wire/route.ts';
import type { RequestBody } from './request-body.ts';

/**
 * The answer of a route that counts tokens; null for every other route. Sets a header that marks the numbers as estimated.
 * @throws GatewayError `malformed_json` or `invalid_value` if the body is not a request of the route's API
 */
export function tokenCount(
  response: ServerResponse,
  { wire, writeTokenCount }: Route,
  body: RequestBody,
): object | null {
  if (!writeTokenCount || !body.captured || !isWireName(wire.name)) return null;
  const count = writeTokenCount(countTokens(wire.name, body.captured));
  response.setHeader('x-sluice-estimated', Object.keys(count).join(', '));
  return count;
}
