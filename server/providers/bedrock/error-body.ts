/** Bodies of Bedrock's errors, which are `{"message":"…"}`; a header has their name. */
import { isObject } from '../../contract/is-object.ts';

/** Long ones are none of Bedrock's. */
const maxErrorBytes = 64 * 1024;

/** Null if the body is no error of Bedrock's. */
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
