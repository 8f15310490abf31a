/** Bodies of Bedrock's errors, which are `{"message":"…"}`; the error's name is in a header. */
import { isObject } from '../../../contract/is-object.ts';

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
