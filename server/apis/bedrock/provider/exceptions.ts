/** Errors of Bedrock: their names, statuses and bodies. */

import { isObject } from '../../../contract/is-object.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';

const types: Record<string, string> = {
  validationexception: 'invalid_request_error',
  accessdeniedexception: 'permission_error',
  unrecognizedclientexception: 'authentication_error',
  expiredtokenexception: 'authentication_error',
  invalidsignatureexception: 'authentication_error',
  resourcenotfoundexception: 'not_found_error',
  throttlingexception: 'rate_limit_error',
  servicequotaexceededexception: 'rate_limit_error',
  modelnotreadyexception: 'overloaded_error',
  serviceunavailableexception: 'overloaded_error',
  modeltimeoutexception: 'timeout_error',
  internalserverexception: 'api_error',
  modelerrorexception: 'api_error',
  modelstreamerrorexception: 'api_error',
};

/**
 * Bedrock reports an unknown model as invalid input: "The provided model identifier is invalid.", "Invocation of model ID … with
 * on-demand throughput isn’t supported."
 */
const unknownModel = boundedPattern(
  /^(?:The provided model identifier is invalid|Invocation of model ID \S{1,200} with on-demand)/,
);

export function isUnknownModel(message: string): boolean {
  return unknownModel.test(message);
}

/**
 * undefined for an unknown exception.
 * @param name `ThrottlingException`, `throttlingException`, or with a namespace after a colon
 */
export function exceptionType(name: string, message: string): string | undefined {
  const [shortName = ''] = name.split(':');
  const type = types[shortName.toLowerCase()];
  return type === 'invalid_request_error' && isUnknownModel(message) ? 'not_found_error' : type;
}

/** Longer bodies are not Bedrock's. */
const maxErrorBytes = 64 * 1024;

/** null if the body is not a Bedrock error. */
export function messageIn(body: Buffer): string | null {
  if (body.length > maxErrorBytes) return null;
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    const message = isObject(parsed) && !('error' in parsed) ? (parsed.message ?? parsed.Message) : null;
    return typeof message === 'string' ? message : null;
  } catch {
    return null;
  }
}
