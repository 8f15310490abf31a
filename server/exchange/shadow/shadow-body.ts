import { parseJson, writeJson } from '../../apis/neutral/json-text.ts';
import { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import type { RequestBody } from '../request/request-body.ts';
import { runsNothingAtProvider } from '../request/runs-nothing-at-provider.ts';

/** Longer bodies take too long to copy and to parse on the event loop. */
export const maxShadowedBytes = 1024 * 1024;

/**
 * A copy of the client's body for a shadow, with `store: false` where the API would store the answer. Null if the
 * request has side effects at the provider.
 */
export function shadowBody(wire: string, { captured, fields }: RequestBody): Buffer | null {
  const request = captured && parseJson(captured.toString());
  if (!isObject(request) || !runsNothingAtProvider(request)) return null;
  const isStored = wire === 'openai-responses' ? fields.store : request.store === true;
  if (!isStored) return Buffer.from(captured ?? '');
  try {
    return Buffer.from(writeJson({ ...request, store: false }));
  } catch (error) {
    // Nested too deeply to be serialised.
    if (error instanceof GatewayError) return null;
    throw error;
  }
}
